"""What is known: commands, path classifiers, tool names, and the gates in precedence order."""
