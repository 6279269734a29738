#!/bin/sh
# Ringfence in front of Cline's tools. Written by `ringfence install cline`.
# Cline runs the call when a hook fails, so whatever goes wrong is answered here.
answer=$("@PROGRAM@" hook cline)
case $answer in
'{'*) printf '%s\n' "$answer" ;;
*) echo '{"cancel": true, "errorMessage": "Ringfence gave no answer, so the call did not run."}' ;;
esac
