/** What a terminal has shown so far, made fit to be shown again. */
import type { TerminalState } from '@atrium/protocol';

/**
 * Questions that programs put to a terminal: what it is, where its cursor is, which colours it has. Shown again, this
 * window would answer them, and the shell would take the answers for what somebody typed.
 */
const QUESTIONS = new RegExp(
  [
    String.raw`\x1b\[[?>=]?[\d;]*[cntx]`,
    String.raw`\x1b\[\??[\d;]*\$p`,
    String.raw`\x1b\[>[\d;]*q`,
    String.raw`\x1b\[\?[\d;]*u`,
    String.raw`\x1b\][^\x07\x1b]*;\?(?:\x07|\x1b\\)`,
    String.raw`\x1bP[$+]q[^\x1b]*\x1b\\`,
    String.raw`\x1bZ`,
    String.raw`\x05`,
  ].join('|'),
  'g',
);

export function pastOf({ content }: Pick<TerminalState, 'content'>): string {
  const text = content.map((part) => (part.type === 'command' ? part.output : part.value)).join('');
  return text.replace(QUESTIONS, '');
}
