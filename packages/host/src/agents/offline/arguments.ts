/** Finds the folder, file, text or command in what is left of a sentence once its verb is known. */

const FILLERS: ReadonlySet<string> = new Set([
  ...['a', 'all', 'are', 'at', 'in', 'me', 'my', 'of', 'please', 'the', 'there', 'this', 'what'],
  ...['contents', 'current', 'directory', 'everything', 'file', 'files', 'folder', 'folders', 'here'],
]);

/** "the files in docs/?" → `docs/`; "here" → nothing, which is the session's folder. */
export function folderIn(rest: string): string | undefined {
  const words = rest.trim().split(/\s+/).map(bare);
  return words.find((word) => word !== '' && !word.startsWith('-') && !FILLERS.has(word.toLowerCase()));
}

/** "the file README.md." → `README.md` */
export function fileIn(rest: string): string {
  const file = bare(rest.trim().replace(/^(?:(?:the|my|me|up|file)\s+)+/i, ''));
  // The one file that people call by half its name.
  return /^readme$/i.test(file) ? 'README.md' : file;
}

/** `TODO in src` → that text in that folder; "the word cat" → `cat`. */
export function searchIn(rest: string): { text: string; path?: string } {
  const asked = rest.trim().replace(/^(?:(?:all|any|every|the|text|word|string|for)\s+)+(?=\S)/i, '');
  const inFolder = /^(\S+|"[^"]+"|'[^']+'|`[^`]+`)\s+in\s+(?:the\s+)?(\S+)(?:\s+(?:folder|directory))?$/i.exec(asked);
  const [, text = asked, place = ''] = inFolder ?? [];
  const path = folderIn(place);
  return path === undefined ? { text: bare(text) } : { text: bare(text), path };
}

/** "the tests" → `npm test`; anything else is taken as it stands. */
export function commandIn(rest: string): string {
  const command = unquoted(rest.trim());
  return /^(?:(?:the|my|all)\s+)*tests?[.!]?$/i.test(command) ? 'npm test' : command;
}

/** `greet {"name": "you"}` → that tool, and what it gets; no input when it is no JSON object. */
export function toolIn(rest: string): { name: string; input: Readonly<Record<string, unknown>> | undefined } {
  const [, name = '', json = '{}'] = /^(\S+)(?:\s+(\{.*\}))?$/s.exec(rest.trim()) ?? [];
  try {
    return { name, input: JSON.parse(json) };
  } catch {
    return { name, input: undefined };
  }
}

/** Without quotes around it and punctuation after it; dots in front belong to a path. */
function bare(text: string): string {
  const trimmed = text.replace(/[?!,;:]+$/, '');
  return unquoted(/[^./]\.$/.test(trimmed) ? trimmed.slice(0, -1) : trimmed);
}

function unquoted(text: string): string {
  return /^(["'`])(.+)\1$/s.exec(text)?.[2] ?? text;
}
