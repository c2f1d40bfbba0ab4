/** The bits of Markdown that the offline agent's answers are made of. */
import path from 'node:path';

export const PREVIEW_MAX_LINES = 20;

/** A block with a fence that the text itself cannot close. */
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

/** Text in backticks, even if it has some. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

const LANGUAGES: Readonly<Record<string, string>> = {
  '.cjs': 'js',
  '.css': 'css',
  '.go': 'go',
  '.html': 'html',
  '.js': 'js',
  '.json': 'json',
  '.md': 'markdown',
  '.mjs': 'js',
  '.py': 'python',
  '.rs': 'rust',
  '.sh': 'sh',
  '.ts': 'ts',
  '.tsx': 'tsx',
  '.yaml': 'yaml',
  '.yml': 'yaml',
};

export function languageOf(file: string): string {
  return LANGUAGES[path.extname(file).toLowerCase()] ?? 'text';
}
