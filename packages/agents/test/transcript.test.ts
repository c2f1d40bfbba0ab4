import { steeringPart, type ToolCallState, type Turn } from '@atrium/protocol/ahp-1';
import { describe, expect, it } from 'vitest';
import { transcriptOf } from '../src/shared/transcript.js';

const origin = { kind: 'user' as const };
const LIMITS = { maxCharacters: 1_000, callMaxCharacters: 100 };

function turnOf(text: string, parts: Turn['responseParts'] = []): Turn {
  return { id: text, message: { text, origin }, responseParts: parts, usage: undefined, state: 'complete' };
}

function withCall(rest: object): Turn {
  const call = { toolCallId: 'c', toolName: 'shell', displayName: 'Shell', toolInput: '{"command":"make"}', ...rest };
  return turnOf('go', [{ kind: 'toolCall', toolCall: call as unknown as ToolCallState }]);
}

const told = (...turns: Turn[]) => transcriptOf(turns, LIMITS) ?? '';

describe('a transcript', () => {
  it('is nothing for a session without a past', () => expect(transcriptOf([], LIMITS)).toBeUndefined());

  it('is what was said, what was attached, what was called and what came of it', () => {
    const done = withCall({ status: 'completed', success: true, content: [{ type: 'text', text: 'made' }] });
    const answer = { kind: 'markdown' as const, id: 'p', content: 'Made it.' };
    const attachments = [{ type: 'simple' as const, label: 'plan' }];
    const turn = {
      ...done,
      message: { text: 'go', origin, attachments },
      responseParts: [...done.responseParts, answer],
    };
    const call = 'You: [used the tool shell {"command":"make"}: made]';
    expect(told(turn)).toContain(`<transcript>\nPerson: go\n[Attached] plan\n${call}\nYou: Made it.\n</transcript>`);
  });

  it('[REL-070] has what steered a turn as the words of the person, where it stood', () => {
    const text = (content: string) => ({ kind: 'markdown' as const, id: content, content });
    const steered = steeringPart({ text: 'left', origin, attachments: [{ type: 'simple', label: 'plan' }] });
    const turn = turnOf('go', [text('one'), steered, text('two')]);
    expect(told(turn)).toContain('Person: go\nYou: one\nPerson: left\n[Attached] plan\nYou: two\n');
  });

  it.each([
    ['was denied', { status: 'cancelled', reason: 'denied' }, 'did not run, it was denied'],
    [
      'a person had something else in mind for',
      { status: 'cancelled', reason: 'skipped', userSuggestion: { text: 'use ninja' } },
      'did not run, it was denied: use ninja',
    ],
    [
      'was cut off by the end of its turn',
      { status: 'cancelled', reason: 'skipped' },
      'The turn ended before this call was done; it may have run in part.',
    ],
    ['still runs', { status: 'running' }, 'The turn ended before this call was done; it may have run in part.'],
  ])('tells of a call that %s', (_, rest, words) => expect(told(withCall(rest))).toContain(`: ${words}]`));

  it('keeps the end of a long session', () => {
    const long = 'x'.repeat(LIMITS.maxCharacters * 0.6);
    const text = told(turnOf(`first ${long}`), turnOf(`second ${long}`), turnOf(`third ${long}`));
    expect(['first', 'second', 'third'].filter((word) => text.includes(word))).toEqual(['third']);
    expect(text).toContain('[…]xxx');
    expect(text.length).toBeLessThan(LIMITS.maxCharacters + 300);
  });

  it('keeps the end of a turn that is too long alone, and the shorter part of a call', () => {
    expect(told(turnOf(`${'x'.repeat(2_000)} the end`))).toContain('x the end\n</transcript>');
    const loud = withCall({ status: 'completed', success: true, content: [{ type: 'text', text: 'y'.repeat(900) }] });
    expect(told(loud).length).toBeLessThan(600);
  });
});
