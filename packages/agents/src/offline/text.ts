/**
 * The texts of the offline agent, the Markdown around tool output, and helpers that find folders, files and commands in
 * a sentence.
 */
import path from 'node:path';

/** Words in a sentence that name no folder. */
const FILLERS: ReadonlySet<string> = new Set([
  ...['a', 'all', 'are', 'at', 'in', 'me', 'my', 'of', 'please', 'the', 'there', 'this', 'what'],
  ...['contents', 'current', 'directory', 'everything', 'file', 'files', 'folder', 'folders', 'here'],
]);

/** "the files in docs/?" → `docs/`; "here" → undefined, which means the session's folder. */
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

/** "the tests" → `npm test`; anything else stays as it is. */
export function commandIn(rest: string): string {
  const command = unquoted(rest.trim());
  return /^(?:(?:the|my|all)\s+)*tests?[.!]?$/i.test(command) ? 'npm test' : command;
}

/** `greet {"name": "you"}` → that tool and its input; no input when it is not a JSON object. */
export function toolIn(rest: string): { name: string; input: Readonly<Record<string, unknown>> | undefined } {
  const [, name = '', json = '{}'] = /^(\S+)(?:\s+(\{.*\}))?$/s.exec(rest.trim()) ?? [];
  try {
    return { name, input: JSON.parse(json) };
  } catch {
    return { name, input: undefined };
  }
}

/** Removes quotes around a word and punctuation after it; leading dots belong to a path. */
function bare(text: string): string {
  const trimmed = text.replace(/[?!,;:]+$/, '');
  return unquoted(/[^./]\.$/.test(trimmed) ? trimmed.slice(0, -1) : trimmed);
}

function unquoted(text: string): string {
  return /^(["'`])(.+)\1$/s.exec(text)?.[2] ?? text;
}

const PREVIEW_MAX_LINES = 20;

/** A code block with a fence that the text itself cannot close. */
export function codeBlock(text: string, language = 'text'): string {
  const longest = Math.max(2, ...(text.match(/`{3,}/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** The first lines, and how many more there are. */
export function preview(text: string, maxLines = PREVIEW_MAX_LINES): { shown: string; more: number } {
  const lines = text.replace(/\n$/, '').split('\n');
  return { shown: lines.slice(0, maxLines).join('\n'), more: Math.max(0, lines.length - maxLines) };
}

/** Text as inline code, even if it contains backticks. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['css', 'go', 'html', 'js', 'json', 'sh', 'ts', 'tsx', 'yaml'].map((name) => [name, name])),
  ...{ cjs: 'js', md: 'markdown', mjs: 'js', py: 'python', rs: 'rust', yml: 'yaml' },
};

/** The language of a file, for a code block. */
export function languageOf(file: string): string {
  return LANGUAGES[path.extname(file).slice(1).toLowerCase()] ?? 'text';
}

const COMMANDS = codeBlock(
  [
    'list                what is in this folder',
    'read README.md      a file',
    'find TODO           a text in all files',
    'git status          what changed',
    '$ npm test          a command; you approve it first',
    'use list_files {}   any tool, by its name',
    'ask me something    a question with choices',
    'show the prompt     what a model would be told',
    'connect a model     how to get a real agent',
  ].join('\n'),
);

/** Joins paragraphs, each of which may be written as several lines in the source. */
function paragraphs(...parts: readonly (string | readonly string[])[]): string {
  return `${parts.map((part) => (typeof part === 'string' ? part : part.join(' '))).join('\n\n')}\n`;
}

export function hello(workingDirectory: string | undefined): string {
  const place = workingDirectory
    ? `We are in the folder **${path.basename(workingDirectory) || workingDirectory}**.`
    : 'This session has no folder, so the file tools will say so.';
  return paragraphs(
    [
      "Hello! I am Atrium's **offline agent**. There is no model behind me, but the session, the tools and the",
      `approvals are real. ${place}`,
    ],
    'Type one of these, or say it in your own words:',
    COMMANDS,
  );
}

export const HELP = paragraphs(
  'This is what I understand. Plain sentences work too: *"show me the files here"*, *"what changed?"*.',
  COMMANDS,
  'Everything that happens here is seen by every client of this session, at the same time.',
);

export const ABOUT = paragraphs(
  [
    "I am Atrium's offline agent: **not an AI**, only a short table of phrases. I am here so that you can try",
    'sessions, tools, approvals and questions without a key.',
  ],
  'Say `help` for what I understand, or `connect a model` for what comes next.',
);

export const CONNECT = paragraphs(
  [
    'A model is one more agent to choose when you create a session; everything else you see here stays the same. The',
    'host finds a key of OpenAI or Anthropic in its environment, and agents such as Claude Code and Copilot where they',
    'are installed: `atrium agents` says what it found, and what is missing. See `docs/agents.md`.',
  ],
  [
    'If you build a client, you need none of them: a *scripted agent* plays any answer you write down, tools and questions',
    'included. See `docs/scripted-agent.md`.',
  ],
);

export const THANKS = paragraphs('You are welcome! Say `help` when you want to try something else.');

export const FALLBACK = paragraphs('That needs a model, and there is none behind me. These work right now:', COMMANDS);
