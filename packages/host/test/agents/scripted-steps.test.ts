// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of scripts are what is tested here
import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import type { Step } from '../../../agents/src/scripted/script.js';
import { completed, FakeTurn, type FakeTurnOptions, runTurn } from '../support/fake-turn.js';
import { ManualClock, tick } from '../support/manual-clock.js';

const CANNED = {
  name: 'weather',
  displayName: 'Weather',
  invocationMessage: 'Look out of the window',
  pastTenseMessage: 'Looked out of the window',
  output: 'Rain.',
  success: true,
};

function play(steps: Step[], options?: FakeTurnOptions, text = 'hello'): Promise<FakeTurn> {
  const agent = scriptedAgent({ provider: 'test', displayName: 'Test', default: steps });
  return runTurn(agent, new FakeTurn(text, options));
}

describe('the steps of a script', () => {
  it('text and reasoning come as one delta each', async () => {
    const { events } = await play([{ reasoning: 'Hm.' }, { text: 'Hello.' }]);
    expect(events).toEqual([{ reasoning: 'Hm.' }, { text: 'Hello.' }]);
  });

  it('chunk cuts text into deltas, never inside a character', async () => {
    const { events } = await play([
      { text: 'ab😀de', chunk: 2 },
      { reasoning: 'xyz', chunk: 3 },
    ]);
    expect(events).toEqual([{ text: 'ab' }, { text: '😀d' }, { text: 'e' }, { reasoning: 'xyz' }]);
  });

  it('everyMs puts time between deltas, none before the first or after the last', async () => {
    const clock = new ManualClock();
    const steps = [{ text: 'abc', chunk: 1, everyMs: 50 }, { text: '!' }];
    const agent = scriptedAgent({ provider: 'test', displayName: 'Test', default: steps }, { clock });
    const turn = new FakeTurn('hello');
    const running = runTurn(agent, turn);
    await tick();
    expect(turn.said).toBe('a');
    await clock.advance(49);
    expect(turn.said).toBe('a');
    await clock.advance(1);
    expect(turn.said).toBe('ab');
    await clock.advance(50);
    expect(turn.said).toBe('abc!');
    await running;
  });

  it('empty text is no delta', async () => {
    expect((await play([{ text: '' }, { text: '', chunk: 2 }])).events).toEqual([]);
  });

  it('tool shows a canned call', async () => {
    const { events } = await play([{ tool: { id: 'w1', ...CANNED, input: '{"day":1}', confirm: true } }]);
    expect(events).toEqual([{ scriptedTool: { id: 'w1', ...CANNED, input: '{"day":1}', confirm: true } }]);
  });

  it('the input of a canned call may be written as JSON', async () => {
    const { events } = await play([{ tool: { ...CANNED, input: { day: '${text}' } } }]);
    expect(events).toEqual([{ scriptedTool: { ...CANNED, input: '{"day":"hello"}' } }]);
  });

  it('callTool runs a tool of the host or the client', async () => {
    const steps = [{ callTool: { name: 'read_file', input: { path: 'a.txt' } } }, { callTool: { name: 'git_status' } }];
    const { events } = await play(steps);
    expect(events).toEqual([
      { callTool: { name: 'read_file', input: { path: 'a.txt' } } },
      { callTool: { name: 'git_status', input: {} } },
    ]);
  });

  it('usage and title are passed on', async () => {
    const { events } = await play([{ usage: { inputTokens: 3, model: 'm' } }, { title: 'About rain' }]);
    expect(events).toEqual([{ usage: { inputTokens: 3, model: 'm' } }, { title: 'About rain' }]);
  });

  it('ask puts a question; its id is made up when it has none', async () => {
    const { events } = await play([{ ask: { message: 'Sure?' } }, { ask: { id: 'mine', message: 'Really?' } }]);
    expect(events).toEqual([
      { ask: { id: 'turn-1-ask-0', message: 'Sure?' } },
      { ask: { id: 'mine', message: 'Really?' } },
    ]);
  });

  it('delayMs waits', async () => {
    const clock = new ManualClock();
    const agent = scriptedAgent(
      { provider: 't', displayName: 'T', default: [{ delayMs: 90 }, { text: 'x' }] },
      { clock },
    );
    const turn = new FakeTurn('hello');
    const running = runTurn(agent, turn);
    await clock.advance(0);
    await clock.advance(89);
    expect(turn.said).toBe('');
    await clock.advance(1);
    expect(turn.said).toBe('x');
    await running;
  });

  it('error ends the turn with a type', async () => {
    const playing = play([{ error: { errorType: 'rate-limited', message: 'Slow down, ${text}.' } }, { text: 'never' }]);
    await expect(playing).rejects.toMatchObject({ errorType: 'rate-limited', message: 'Slow down, hello.' });
  });

  it('showPrompt shows the whole prompt, or one section', async () => {
    const prompt = { identity: 'You are a test.', tone: 'Be brief.' };
    expect((await play([{ showPrompt: true }], { prompt })).said).toBe('You are a test.\n\nBe brief.');
    expect((await play([{ showPrompt: 'tone' }], { prompt })).said).toBe('Be brief.');
  });

  it('showPrompt of a section that is not there says which are', async () => {
    const playing = play([{ showPrompt: 'tune' }], { prompt: { identity: 'I', tone: 'T' } });
    await expect(playing).rejects.toThrow('The prompt has no section "tune"; it has: identity, tone.');
  });
});

describe('substitution', () => {
  it('puts the message and the last result into every string, also deep inside', async () => {
    const steps = [
      { callTool: { name: 'look', input: { where: ['${text}', { deep: '<${text}>' }], count: 2 } } },
      { text: '${text}: ${lastResult}' },
    ];
    const { events, said } = await play(steps, { callTool: () => completed('found it') }, 'the cat');
    expect(events[0]).toEqual({
      callTool: { name: 'look', input: { where: ['the cat', { deep: '<the cat>' }], count: 2 } },
    });
    expect(said).toBe('the cat: found it');
  });

  it('happens in one pass: what is put in is not looked at again', async () => {
    const steps = [{ tool: { ...CANNED, output: '${text}' } }, { text: '${text} ${lastResult} ${unknown} $& ${' }];
    const { said } = await play(steps, {}, '${lastResult} $1');
    expect(said).toBe('${lastResult} $1 ${lastResult} $1 ${unknown} $& ${');
  });

  it('is empty before there is a result', async () => {
    expect((await play([{ text: '[${lastResult}][${steering}]' }])).said).toBe('[][]');
  });

  it('goes on after a denied tool call, with the reason', async () => {
    const denied = () => ({ kind: 'denied', reason: 'Too risky.' }) as const;
    const steps = [{ tool: { ...CANNED, confirm: true } }, { text: '1: ${lastResult} ' }, { callTool: { name: 'rm' } }];
    const { said } = await play([...steps, { text: '2: ${lastResult}' }], { scriptedTool: denied, callTool: denied });
    expect(said).toBe('1: Too risky. 2: Too risky.');
  });

  it('has the answers to a question as JSON', async () => {
    const answers = { name: { state: 'submitted', value: { kind: 'text', value: 'Kim' } } } as const;
    const { said } = await play([{ ask: { message: '${text}?' } }, { text: '${lastResult}' }], {
      ask: () => ({ response: 'accept', answers }),
    });
    expect(JSON.parse(said)).toEqual(answers);
  });

  it('has what a person wrote to steer, which by itself shows nothing', async () => {
    const agent = scriptedAgent({
      provider: 'test',
      displayName: 'Test',
      default: [{ callTool: { name: 'look' } }, { text: 'a' }, { text: '[${steering}]' }, { text: '[${steering}]' }],
    });
    const turn = new FakeTurn('hello', {
      callTool() {
        turn.steering.push('faster', 'shorter');
        return completed('');
      },
    });
    await runTurn(agent, turn);
    expect(turn.said).toBe('a[shorter][shorter]');
  });
});
