import { LINE_MAX_CHARACTERS, PlainLines, plainText } from '@atrium/core/util/plain-text.js';
import { type TerminalContentPart, type TerminalState, terminalReducer } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import {
  OscSplitter,
  type Piece,
  SEQUENCE_MAX_CHARACTERS,
  signalOf,
} from '../../src/workspace/terminals/osc-sequences.js';
import {
  cutAt,
  reduceBounded,
  SCROLLBACK_KEPT_CHARACTERS,
  SCROLLBACK_KEPT_PARTS,
  SCROLLBACK_MAX_CHARACTERS,
  SCROLLBACK_MAX_PARTS,
  trimmed,
} from '../../src/workspace/terminals/scrollback.js';
import { Random } from '../support/fuzz-random.js';
import { refusalOf } from '../support/session-fixture.js';
import {
  openTerminal,
  openTerminalFixture,
  stateIn,
  textIn,
  type,
  until,
  untilText,
} from '../support/terminal-fixture.js';

/** What the splitter makes of chunks, with texts that follow each other joined. */
function split(...chunks: readonly string[]): { text: string; signals: string[] } {
  const splitter = new OscSplitter();
  const pieces: Piece[] = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
  return {
    text: pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join(''),
    signals: pieces.flatMap((piece) => (piece.kind === 'osc' ? `${piece.code}:${piece.body}` : [])),
  };
}

describe('the sequences in what a terminal writes', () => {
  const STREAM =
    'a\x1b[31mred\x1b[0m\x1b]633;A;n\x07b\x1b]0;title\x07c\x1b]7;file:///tmp\x1b\\d\x1b]8;;http://x\x07link\x1b]8;;\x07' +
    '\x1b]133;D;0\x1b\\e\x9d633;C;x;n\x9cf\x1b]633;broken\x1b[1mg\x1b]52;c;Zm9v\x07h\x1bc😀';
  const TEXT =
    'a\x1b[31mred\x1b[0mb\x1b]0;title\x07c\x1b]7;file:///tmp\x1b\\d\x1b]8;;http://x\x07link\x1b]8;;\x07' +
    'ef\x1b[1mg\x1b]52;c;Zm9v\x07h\x1bc😀';
  const SIGNALS = ['633:A;n', '0:title', '7:file:///tmp', '133:D;0', '633:C;x;n'];

  it('[AHP-229] are taken out when they are marks of a shell, whichever program wrote them, and only then', () => {
    expect(split(STREAM)).toEqual({ text: TEXT, signals: SIGNALS });
  });

  it('[AHP-229] are found wherever the stream is cut', () => {
    for (let at = 0; at <= STREAM.length; at++) {
      expect(split(STREAM.slice(0, at), STREAM.slice(at))).toEqual({ text: TEXT, signals: SIGNALS });
    }
    expect(split(...STREAM)).toEqual({ text: TEXT, signals: SIGNALS });
  });

  it('pass when they never end, and do not pile up', () => {
    const endless = `\x1b]0;${'x'.repeat(3 * SEQUENCE_MAX_CHARACTERS)}`;
    const splitter = new OscSplitter();
    const chunks = endless.match(/[\s\S]{1,1000}/g) ?? [];
    const shown = chunks.flatMap((chunk) => splitter.push(chunk));
    expect(shown.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('')).toBe(endless);
    expect(split('\x1b]633;A;never ends').text).toBe('');
  });

  it('take no longer to find when there are many that never end', () => {
    const splitter = new OscSplitter();
    const chunk = '\x9d0;'.repeat(16_000);
    const texts = Array.from({ length: 4 }, () => splitter.push(chunk)).flat();
    expect([...texts, ...splitter.end()].map((piece) => (piece.kind === 'text' ? piece.text : '')).join('')).toBe(
      chunk.repeat(4),
    );
  });

  it('[AHP-229] are taken out however long the line is that a shell tells, and in whatever pieces it comes', () => {
    const longest = `\x1b]633;C;sure;${'\\x3b'.repeat(4_096)};${'n'.repeat(36)}\x07`;
    for (const size of [1_000, 4_095, longest.length - 1]) {
      const pieces = longest.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? [];
      expect(split(...pieces)).toMatchObject({ text: '', signals: [expect.stringContaining('633:C;sure')] });
    }
  });

  it('mean something only with the secret of the terminal', () => {
    expect(signalOf(633, 'A;secret', 'secret')).toEqual({ kind: 'prompt' });
    expect(signalOf(633, 'A;guess', 'secret')).toBeUndefined();
    expect(signalOf(633, 'A', 'secret')).toBeUndefined();
    expect(signalOf(633, 'A;', undefined)).toBeUndefined();
    expect(signalOf(633, String.raw`C;sure;a\x3b b\\x\x0ac;s`, 's')).toEqual({
      kind: 'executed',
      isSure: true,
      commandLine: 'a; b\\x\nc',
    });
    expect(signalOf(633, 'D;130;s', 's')).toEqual({ kind: 'finished', exitCode: 130 });
    expect(signalOf(633, 'D;;s', 's')).toEqual({ kind: 'finished', exitCode: undefined });
    expect(signalOf(7, 'file://elsewhere.example/tmp', 's')).toBeUndefined();
    expect(signalOf(7, 'file:///tmp/a%20b', 's')).toEqual({ kind: 'cwd', path: '/tmp/a b' });
    expect(signalOf(7, 'nonsense', 's')).toBeUndefined();
  });
});

describe('output as plain text', () => {
  it('has no sequences, and of overwritten lines only what stands there', () => {
    const written =
      'one\r\n\x1b[1;31mtwo\x1b[0m\r\n 10%\r 50%\r100%\r\nab\bc\x1b]0;t\x07\x1bPq\x1b\\ d\te\x1b(B\r\nend';
    expect(plainText(written)).toBe('one\ntwo\n100%\nac d\te\nend');
  });

  it('takes a line that was begun again for the last of its states', () => {
    expect(plainText('1 of 2\x1b[1G2 of 2\r\n\x1b[2Kold\x1b[G\x1b[2Knew\r\n')).toBe('2 of 2\nnew\n');
  });

  it('loses no more than a line to a sequence that never ends', () => {
    expect(plainText('a\x1b]0;b\nc\x1bPd\ne')).toBe('a\nc\ne');
  });

  it('is the same wherever the stream is cut', () => {
    const written = 'x\x1b[1mone\r\n5%\r6%\r\n\x1b]0;title\x1b\\two\x1b[0m\r\n';
    for (let at = 0; at <= written.length; at++) {
      const lines = new PlainLines();
      const text = lines.push(written.slice(0, at)) + lines.push(written.slice(at)) + lines.end();
      expect(text).toBe('xone\n6%\ntwo\n');
    }
  });

  it.each([
    ['beginnings of sequences', `${'\x9d'.repeat(4_000)}\x07`, ''],
    ['returns to the beginning of the line', `${'\r'.repeat(4_000)}x`, 'x'],
  ])('takes no longer when there are many %s', (_what, piece, expected) => {
    const lines = new PlainLines();
    const shown = Array.from({ length: 200 }, () => lines.push(piece.repeat(16))).join('') + lines.end();
    expect(new Set(shown)).toEqual(new Set(expected));
  });

  it('does not wait for the end of a line that is too long', () => {
    const lines = new PlainLines();
    expect(lines.push('x'.repeat(LINE_MAX_CHARACTERS))).toBe('');
    expect(lines.push('y')).toHaveLength(LINE_MAX_CHARACTERS + 1);
    expect(lines.end()).toBe('');
  });
});

describe('what a terminal keeps of its past', () => {
  const EMPTY: TerminalState = {
    ...{ title: 't', claim: { kind: 'client', clientId: 'desk' }, content: [] },
    lifecycle: { status: 'running' },
  };
  const add = (state: TerminalState, data: string) => reduceBounded(state, { type: 'terminal/data', data });

  it('is bounded, and always the newest', () => {
    let state = EMPTY;
    let whole = '';
    const random = new Random(7);
    for (let step = 0; step < 120; step++) {
      const data = `${step} ${'😀\x1b[31mab\n'.repeat(random.below(2_000))}`;
      state = add(state, data);
      whole = (whole + data).slice(-2 * SCROLLBACK_MAX_CHARACTERS);
      if (step % 10 > 0) continue;
      const shown = textIn(state.content);
      expect(shown.length).toBeLessThanOrEqual(SCROLLBACK_MAX_CHARACTERS);
      expect(whole.endsWith(shown)).toBe(true);
    }
    expect(textIn(state.content).length).toBeGreaterThan(SCROLLBACK_MAX_CHARACTERS / 2);
  });

  it('is what the protocol says as long as it is small', () => {
    const action = { type: 'terminal/data', data: 'x' } as const;
    expect(reduceBounded(EMPTY, action)).toEqual(terminalReducer(EMPTY, action));
  });

  it('is bounded in parts, too; a command that runs stays one', () => {
    const commands: TerminalContentPart[] = Array.from({ length: SCROLLBACK_MAX_PARTS + 1 }, (_, index) => ({
      type: 'command',
      commandId: `c${index}`,
      commandLine: 'ls',
      output: 'x',
      timestamp: 0,
      isComplete: index < SCROLLBACK_MAX_PARTS,
    }));
    const kept = trimmed(commands);
    expect(kept).toHaveLength(SCROLLBACK_KEPT_PARTS);
    expect(kept.at(-1)).toBe(commands.at(-1));
    const long = trimmed([
      ...commands.slice(-1),
      { type: 'unclassified', value: 'y'.repeat(SCROLLBACK_MAX_CHARACTERS) },
    ]);
    expect(long).toMatchObject([{ type: 'unclassified' }]);
  });

  it('is cut between lines, and else never inside a character or a sequence', () => {
    expect(cutAt('aaaa\nbbbb', 2)).toBe(5);
    const face = `${'x'.repeat(10)}😀${'y'.repeat(10)}`;
    expect(cutAt(face, 11)).toBe(12);
    const red = `${'x'.repeat(10)}\x1b[38;5;196mred`;
    expect(cutAt(red, 13)).toBe(21);
    expect(cutAt(red, 10)).toBe(10);
  });

  it('costs no more per character when there is much of it: the oldest is cut off now and then, not each time', () => {
    const CHARACTERS = 20_000_000;
    let state = EMPTY;
    let cuts = 0;
    for (let done = 0; done < CHARACTERS; done += 1_000) {
      const before = textIn(state.content).length;
      state = add(state, 'x'.repeat(1_000));
      if (textIn(state.content).length < before) cuts += 1;
    }
    expect(cuts).toBeGreaterThan(0);
    expect(cuts).toBeLessThanOrEqual(CHARACTERS / (SCROLLBACK_MAX_CHARACTERS - SCROLLBACK_KEPT_CHARACTERS));
  });
});

describe('output of a real program', () => {
  it('[AHP-229] comes as data of the host alone, whole and in order', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(
      client,
      uri,
      'stty -onlcr; i=0; while [ $i -lt 3000 ]; do echo "line $i äöü😀"; i=$((i+1)); done; echo fin""ished\r',
    );
    const state = await untilText(client, uri, 'finished\n');
    const lines = textIn(state.content).match(/line \d+ äöü😀\n/g);
    expect(lines).toEqual(Array.from({ length: 3000 }, (_, index) => `line ${index} äöü😀\n`));
    const data = client.envelopes(uri).filter(({ action }) => action.type === 'terminal/data');
    expect(data.every(({ origin }) => origin === undefined)).toBe(true);
    expect(data.length).toBeLessThan(1500);
    expect(await refusalOf(client, uri, { type: 'terminal/data', data: 'forged' })).toContain('terminal/data');
    expect(textIn((await stateIn(client, uri)).content)).not.toContain('forged');
  });

  it('sets title and folder, unless a person gave it a name', async () => {
    const { client, folder } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, `printf '\\033]2;from a\\tprogram\\007\\033]7;file://${folder}\\007'\r`);
    await until(client, uri, ({ title, cwd }) => title === 'from a program' && cwd === `file://${folder}`);
    client.dispatch(uri, { type: 'terminal/titleChanged', title: 'mine' });
    type(client, uri, 'printf \'\\033]2;again\\007\'; echo do""ne\r');
    await untilText(client, uri, 'done');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await stateIn(client, uri)).title).toBe('mine');
  });

  it('may change its title all the time; it is told now and then, and the last one in the end', async () => {
    const { client } = await openTerminalFixture();
    const uri = await openTerminal(client);
    type(client, uri, 'i=0; while [ $i -le 2000 ]; do printf "\\033]2;title $i\\007"; i=$((i+1)); done\r');
    await until(client, uri, ({ title }) => title === 'title 2000');
    const titles = client.envelopes(uri).filter(({ action }) => action.type === 'terminal/titleChanged');
    expect(titles.length).toBeLessThan(40);
  });
});
