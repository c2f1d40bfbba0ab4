/** Objects to commands that rewrite what others have already fetched. The event comes as JSON on standard input. */
let text = '';
for await (const chunk of process.stdin) text += chunk;

const { tool_input: input } = JSON.parse(text);
const isForced = /\bgit\b.*\bpush\b.*(--force(?!-with-lease)|\s-f\b)/s.test(String(input?.command ?? ''));

if (isForced) {
  // What is written here is shown to people and to the model.
  process.stderr.write('A forced push rewrites history that others may have. Use --force-with-lease.\n');
  // 2 objects; every other code but 0 means that the hook itself failed.
  process.exitCode = 2;
}
