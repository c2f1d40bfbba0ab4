import { type ResponsePart, type SessionState, steeringPart, type ToolCallState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import { Transcript } from '../../src/chat/transcript.js';
import { PLAIN } from '../../src/text/style.js';

function transcript(): Transcript {
  return new Transcript({ view: () => ({ style: PLAIN, columns: 60 }), diffs: () => [] });
}

const summary = { resource: 'x:1', provider: 'mock', title: '', status: 1, createdAt: 0, modifiedAt: 0 };
const base: SessionState = { summary, lifecycle: 'ready', turns: [] };
const userMessage = { text: 'hi' };

function active(...responseParts: ResponsePart[]): SessionState {
  return { ...base, activeTurn: { id: 't1', userMessage, responseParts } };
}

function over(...responseParts: ResponsePart[]): SessionState {
  return { ...base, turns: [{ id: 't1', userMessage, responseParts, state: 'complete' }] };
}

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

  it('[REL-070] shows what steered a turn as the words of a person, with what was attached', () => {
    const attachments = [{ type: 'simple' as const, label: 'plan' }];
    const steered = steeringPart({ text: 'left\n\x1b]not right', attachments });
    const lines = transcript().finished(over(text('one'), steered, text('two')));
    expect(lines.slice(0, 5)).toEqual(['> hi', '', 'one', '', '> left']);
    expect(lines.slice(-4)).toEqual(['  + plan', '', 'two', '']);
    expect(lines.join('\n')).not.toContain('\x1b');
  });

  it('[CLI-025] names content of a kind that it does not know', () => {
    const strange = { kind: 'hologram', uri: 'x:y' } as unknown as ResponsePart;
    expect(transcript().finished(over(strange))).toEqual(['> hi', '', '※ [hologram: x:y]', '']);
  });

  it('says when history was cut', () => {
    const all = transcript();
    all.finished(over(text('a')));
    expect(all.finished(base)).toEqual(['― history was cut ―']);
    expect(all.finished(base)).toEqual([]);
  });

  it('costs as much per word in a long answer as in a short one', { retry: 3, timeout: 60_000 }, () => {
    const all = transcript();
    let content = '';
    const timeOf = (count: number) => {
      const begin = performance.now();
      for (let words = 0; words < count; words += 1) {
        content += words % 10 === 9 ? 'word\n' : 'word ';
        all.finished(active(text(content)));
      }
      return performance.now() - begin;
    };
    const [first, , , last] = [5_000, 5_000, 5_000, 5_000].map(timeOf);
    // Reading everything anew with each word would make the last quarter seven times as long as the first.
    expect(last).toBeLessThan(4 * (first ?? 0));
  });
});
