import type { OpenSessionState } from '@atrium/client';
import {
  type ChatState,
  type ResponsePart,
  type SessionState,
  steeringPart,
  type ToolCallState,
  type TurnState,
} from '@atrium/protocol/ahp-1';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Transcript } from '../../src/chat/transcript.js';
import { MarkdownStream } from '../../src/text/markdown.js';
import { PLAIN } from '../../src/text/style.js';

function transcript(): Transcript {
  return new Transcript({ view: () => ({ style: PLAIN, columns: 60 }), diffs: () => [] });
}

const NOON = '2026-11-17T12:00:00.000Z';
const common = { title: '', status: 1 };
const session: SessionState = { ...common, provider: 'mock', lifecycle: 'ready', activeClients: [], chats: [] };
const chat: ChatState = { ...common, resource: 'ahp-chat:/c', modifiedAt: NOON, turns: [] };
const base: OpenSessionState = { session, chat };
const message = { text: 'hi', origin: { kind: 'user' as const } };

function active(...responseParts: ResponsePart[]): OpenSessionState {
  return { session, chat: { ...chat, activeTurn: { id: 't1', startedAt: NOON, message, responseParts } } };
}

function ended(state: TurnState, ...responseParts: ResponsePart[]): OpenSessionState {
  return { session, chat: { ...chat, turns: [{ id: 't1', message, responseParts, state }] } };
}

const over = (...parts: ResponsePart[]) => ended('complete', ...parts);

const text = (content: string): ResponsePart => ({ kind: 'markdown', id: 'p', content });
const names = { toolCallId: 'c', toolName: 'look', displayName: 'Look' };
const running: ToolCallState = { status: 'running', ...names, invocationMessage: 'Looks', confirmed: 'not-needed' };
const done: ToolCallState = { ...running, status: 'completed', success: true, pastTenseMessage: 'Looked' };

describe('the transcript', () => {
  it('marks a note once, also one of a provider, which brings its mark along', () => {
    const note = (content: string): ResponsePart => ({ kind: 'systemNotification', content });
    expect(transcript().finished(over(note('Shortened.')))).toEqual(['> hi', '', '※ Shortened.', '']);
    expect(transcript().finished(over(note('※ ci: all green')))).toEqual(['> hi', '', '※ ci: all green', '']);
  });

  it('lets every line go up once, as soon as it is complete', () => {
    const all = transcript();
    expect(all.finished(active(text('one\ntw')))).toEqual(['> hi', '', 'one']);
    expect(all.live(active(text('one\ntw')))).toEqual(['tw']);
    expect(all.finished(active(text('one\ntwo\nthr')))).toEqual(['two']);
    expect(all.finished(over(text('one\ntwo\nthree')))).toEqual(['three', '']);
    expect(all.finished(over(text('one\ntwo\nthree')))).toEqual([]);
  });

  it('keeps a call below while it runs, and what follows it, too', () => {
    const all = transcript();
    const going = active({ kind: 'toolCall', toolCall: running }, text('next'));
    expect(all.finished(going)).toEqual(['> hi', '']);
    expect(all.live(going)).toEqual(['● Look  Looks', 'next']);
    expect(all.finished(over({ kind: 'toolCall', toolCall: done }, text('next')))).toEqual([
      '✓ Look  Looked',
      '',
      'next',
      '',
    ]);
  });

  it('says once why a call failed, where that is all that it gave back', () => {
    const why = 'It is not there.';
    const failed = { ...names, status: 'completed' as const, invocationMessage: 'Look', success: false };
    const call = (output: string) => ({
      ...failed,
      confirmed: 'not-needed' as const,
      pastTenseMessage: 'Could not look',
      error: { message: why },
      content: [{ type: 'text' as const, text: output }],
    });
    const lines = (output: string) =>
      transcript()
        .finished(over({ kind: 'toolCall', toolCall: call(output) } as ResponsePart))
        .filter((line) => line.includes(why) || line.includes('a hint'));
    expect(lines(why)).toEqual([`  ${why}`]);
    expect(lines('a hint')).toEqual([`  ${why}`, '  a hint']);
  });

  it('[REL-070] shows what steered a turn as the words of a person, with what was attached', () => {
    const attachments = [{ type: 'simple' as const, label: 'plan' }];
    const steered = steeringPart({ ...message, text: 'left\n\x1b]not right', attachments });
    const lines = transcript().finished(over(text('one'), steered, text('two')));
    expect(lines.slice(0, 5)).toEqual(['> hi', '', 'one', '', '> left']);
    expect(lines.slice(-4)).toEqual(['  + plan', '', 'two', '']);
    expect(lines.join('\n')).not.toContain('\x1b');
  });

  it('[CLI-025] names content of a kind that it does not know', () => {
    const strange = { kind: 'hologram', uri: 'x:y' } as unknown as ResponsePart;
    expect(transcript().finished(over(strange))).toEqual(['> hi', '', '※ [hologram: x:y]', '']);
  });

  it('[UP-115] says that a failed turn can go on, and shows what it does then below what it did', () => {
    const all = transcript();
    const failure: ResponsePart = { kind: 'error', error: { errorType: 'x', message: 'Full.' }, resumable: true };
    const failed = ended('error', text('one'), failure);
    const hint = '/resume goes on where it stopped.';
    expect(all.finished(failed)).toEqual(['> hi', '', 'one', '', '✗ Full.', '', hint, '']);
    expect(all.finished(active(text('one'), failure))).toEqual([]);
    expect(all.finished(over(text('one'), failure, text('two')))).toEqual(['two', '']);
    expect(all.finished(over(text('one'), failure, text('two')))).toEqual([]);
    const quick = transcript();
    quick.finished(failed);
    expect(quick.finished(over(text('one'), failure, text('two')))).toEqual(['two', '']);
    expect(transcript().finished(ended('error'))).toEqual(['> hi', '', '✗ The turn failed.', '']);
  });

  it('[UP-128] leaves a question to the prompt while it is open, and keeps it in the history', () => {
    const request = { id: 'q', message: 'Which colour?' };
    const all = transcript();
    expect(all.finished(active({ kind: 'inputRequest', request }))).toEqual(['> hi', '']);
    expect(all.live(active({ kind: 'inputRequest', request }))).toEqual([]);
    const lines = transcript().finished(over({ kind: 'inputRequest', request, response: 'accept' }));
    expect(lines).toEqual(['> hi', '', '※ ? Which colour?', '  (answered)', '']);
  });

  it('says when history was cut', () => {
    const all = transcript();
    all.finished(over(text('a')));
    expect(all.finished(base)).toEqual(['― history was cut ―']);
    expect(all.finished(base)).toEqual([]);
  });

  it('reads each word of a long answer once, and gives each line once', () => {
    const push = vi.spyOn(MarkdownStream.prototype, 'push');
    onTestFinished(() => push.mockRestore());
    const all = transcript();
    let content = '';
    const lines: string[] = [];
    for (let words = 0; words < 5_000; words += 1) {
      content += words % 10 === 9 ? 'word\n' : 'word ';
      lines.push(...all.finished(active(text(content))));
    }
    expect(push.mock.calls.map(([piece]) => piece).join('')).toBe(content);
    expect(lines).toEqual(['> hi', '', ...Array.from({ length: 500 }, () => 'word '.repeat(10).trim())]);
  });
});
