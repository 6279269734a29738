// Prints what the command-line specs of @withfig/autocomplete say of arguments that are files or
// folders: one JSON object a line, {"command", "option" or null, "kind"}.
//   node fig_facts.mjs FOLDER-OF-THE-PACKAGE NAME…
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, ...names] = process.argv.slice(2);
const list = (value) => (value === undefined ? [] : Array.isArray(value) ? value : [value]);
const kindOf = (args) => {
  const kinds = list(args).flatMap((arg) => list(arg?.template));
  if (kinds.includes("folders") && !kinds.includes("filepaths")) return "folder";
  if (kinds.includes("filepaths")) return "file";
  return list(args).length ? "value" : "flag";
};
const walk = (spec, command) => {
  const operand = kindOf(spec.args);
  if (operand === "file" || operand === "folder")
    console.log(JSON.stringify({ command, option: null, kind: operand }));
  for (const option of list(spec.options))
    for (const name of list(option.name))
      if (name.startsWith("-"))
        console.log(JSON.stringify({ command, option: name, kind: kindOf(option.args) }));
  for (const inner of list(spec.subcommands)) walk(inner, `${command} ${list(inner.name)[0]}`);
};
const there = new Set(readdirSync(join(folder, "build")));
for (const name of names) {
  if (!there.has(`${name}.js`)) continue;
  try {
    const loaded = await import(pathToFileURL(join(folder, "build", `${name}.js`)));
    const spec = typeof loaded.default === "function" ? await loaded.default() : loaded.default;
    if (spec?.name) walk(spec, name);
  } catch {
    // A spec that needs more than node is left out.
  }
}
