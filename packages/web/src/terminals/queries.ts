/**
 * Programs ask their terminal questions: where is the cursor, which colours are there. Exactly one may answer, or the
 * second answer ends up in the shell as if somebody had typed it. And what was asked in the past must stay unanswered.
 */
import type { IDisposable, Terminal } from '@xterm/xterm';

const CSI = [
  { final: 'c' },
  { prefix: '>', final: 'c' },
  { prefix: '=', final: 'c' },
  { final: 'n' },
  { prefix: '?', final: 'n' },
  { intermediates: '$', final: 'p' },
  { prefix: '?', intermediates: '$', final: 'p' },
  { final: 't' },
];
const DCS = [{ intermediates: '$', final: 'q' }];
/** Colours are set by these, too; only those with a question mark ask. */
const OSC = [4, 10, 11, 12];

export function answerOnlyIf(terminal: Terminal, mayAnswer: () => boolean): IDisposable {
  const { parser } = terminal;
  const held = [
    ...CSI.map((id) => parser.registerCsiHandler(id, () => !mayAnswer())),
    ...DCS.map((id) => parser.registerDcsHandler(id, () => !mayAnswer())),
    ...OSC.map((id) => parser.registerOscHandler(id, (data) => data.includes('?') && !mayAnswer())),
  ];
  return {
    dispose() {
      for (const each of held) each.dispose();
    },
  };
}
