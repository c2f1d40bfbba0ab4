import { describe, expect, it } from 'vitest';
import { pastOf } from '../src/terminals/attach.js';

const past = (value: string) => pastOf({ content: [{ type: 'unclassified', value }] });

describe('what a terminal has shown, when it is shown again', () => {
  it.each([
    ['what it is', '\x1b[c\x1b[>c\x1b[=0c\x1bZ\x05'],
    ['where its cursor is, and how it fares', '\x1b[6n\x1b[5n\x1b[?6n'],
    ['which modes it has', '\x1b[?2026$p\x1b[4$p\x1b[?u'],
    ['its version, size and title', '\x1b[>q\x1b[>0q\x1b[18t\x1b[21t'],
    ['its colours and clipboard', '\x1b]11;?\x07\x1b]4;1;?\x1b\\\x1b]52;c;?\x07'],
    ['its settings', '\x1bP$qm\x1b\\\x1bP+q544e\x1b\\'],
  ])('does not ask again %s', (_what, questions) => {
    expect(past(`a${questions}b`)).toBe('ab');
  });

  it('keeps everything else: colours, titles, links, and what programs drew', () => {
    const drawn =
      '\x1b[31mred\x1b[0m\x1b[2J\x1b[10;5H\x1b[?25l\x1b]0;why?\x07\x1b]8;;http://x/?q\x07link\x1b]8;;\x07 50% \r\n';
    expect(past(drawn)).toBe(drawn);
  });

  it('is the output of commands, and what came between them', () => {
    const command = { commandId: 'c', commandLine: 'ls', timestamp: 0, isComplete: true, exitCode: 0 };
    const content = [
      { type: 'unclassified' as const, value: '$ ls\r\n' },
      { type: 'command' as const, ...command, output: 'a\r\n' },
    ];
    expect(pastOf({ content })).toBe('$ ls\r\na\r\n');
  });
});
