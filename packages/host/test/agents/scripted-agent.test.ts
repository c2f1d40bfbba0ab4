import { describe, expect, it } from 'vitest';
import { scriptedAgent } from '../../../agents/src/scripted/backend.js';
import type { Script, Step } from '../../../agents/src/scripted/script.js';
import { FakeTurn, type FakeTurnOptions, openSession, runTurn } from '../support/fake-turn.js';
import { ManualClock, tick } from '../support/manual-clock.js';

const SCRIPT: Script = { provider: 'test', displayName: 'Test' };

describe('a scripted agent', () => {
  it('describes itself, with safety and identity restricted', () => {
    const sections = { identity: 'I', tool_use: 'T', safety: 'S' };
    const agent = scriptedAgent({ ...SCRIPT, models: [{ id: 'm', name: 'M' }], sections });
    expect(agent.info).toMatchObject({
      provider: 'test',
      displayName: 'Test',
      models: [{ id: 'm', provider: 'test', name: 'M' }],
      systemMessageSections: [
        { id: 'identity', label: 'Identity', restricted: true },
        { id: 'tool_use', label: 'Tool use' },
        { id: 'safety', label: 'Safety', restricted: true },
      ],
    });
    expect(agent.sections).toEqual(sections);
    expect(agent.abilities.render).toBe('sections');
  });

  it('without sections has no catalogue', () => {
    const agent = scriptedAgent(SCRIPT);
    expect(agent.info.systemMessageSections).toBeUndefined();
    expect(agent.abilities.render).toBe('none');
  });

  it('fails to open when the script says so', async () => {
    const agent = scriptedAgent({ ...SCRIPT, createError: { errorType: 'no-key', message: 'Sign in first.' } });
    await expect(openSession(agent)).rejects.toMatchObject({ errorType: 'no-key', message: 'Sign in first.' });
  });

  it('chooses steps by the exact text, else the default', async () => {
    const agent = scriptedAgent({ ...SCRIPT, prompts: { hi: [{ text: 'one' }] }, default: [{ text: 'two' }] });
    expect((await runTurn(agent, new FakeTurn('hi'))).said).toBe('one');
    expect((await runTurn(agent, new FakeTurn('hi '))).said).toBe('two');
    expect((await runTurn(agent, new FakeTurn('constructor'))).said).toBe('two');
  });

  it('without a default says which texts it knows', async () => {
    const agent = scriptedAgent({ ...SCRIPT, prompts: { hi: [], 'good "day"': [] } });
    await expect(runTurn(agent, new FakeTurn('yo'))).rejects.toThrow('It knows: "hi", "good \\"day\\"".');
  });
});

describe('cancelling a scripted turn', () => {
  const CANNED = {
    name: 'n',
    displayName: 'N',
    invocationMessage: 'i',
    pastTenseMessage: 'p',
    output: 'o',
    success: true,
  };
  const forever = () => new Promise<never>(() => {});
  const waits: [string, Step, FakeTurnOptions?][] = [
    ['a delay', { delayMs: 1_000_000 }],
    ['a streaming text', { text: 'abc', chunk: 1, everyMs: 1_000_000 }],
    ['a tool of the host', { callTool: { name: 'slow' } }, { callTool: forever }],
    ['a canned tool', { tool: { ...CANNED, confirm: true } }, { scriptedTool: forever }],
    ['a question', { ask: { message: 'Well?' } }, { ask: forever }],
  ];

  it.each(waits)('stops within a tick during %s', async (_name, step, options) => {
    const clock = new ManualClock();
    const agent = scriptedAgent({ ...SCRIPT, default: [step, { title: 'never' }] }, { clock });
    const turn = new FakeTurn('hello', options);
    let ended = false;
    const running = runTurn(agent, turn).finally(() => {
      ended = true;
    });
    running.catch(() => {});
    await tick();
    expect(ended).toBe(false);
    turn.cancel();
    await tick();
    expect(ended).toBe(true);
    expect(clock.pending).toBe(0);
    expect(turn.events).not.toContainEqual({ title: 'never' });
    await expect(running).rejects.toThrow();
  });

  it('plays nothing once cancelled', async () => {
    const turn = new FakeTurn('hello');
    turn.cancel();
    await expect(runTurn(scriptedAgent({ ...SCRIPT, default: [{ text: 'x' }] }), turn)).rejects.toThrow();
    expect(turn.events).toEqual([]);
  });
});
