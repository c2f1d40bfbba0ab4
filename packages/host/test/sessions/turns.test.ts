import { tmpdir } from 'node:os';
import { pathToFileURL } from 'node:url';
import { AgentError } from '@atrium/core/contracts/agent.js';
import { describe, expect, it } from 'vitest';
import {
  envelopesOf,
  openFixture,
  openPuppetFixture,
  stateOf,
  textIn,
  turnStarted,
} from '../support/session-fixture.js';
import { DEFAULT_SCRIPT, settle } from '../support/test-host.js';

const ENDS = ['session/turnComplete', 'session/turnCancelled', 'session/error'];

describe('a turn', () => {
  it('[AHP-145] [AHP-162] begins with its message, tells what the agent does, and ends once', async () => {
    const { client, uri } = await openFixture();
    await client.turn(uri, 'hello', 't1');
    await settle();
    expect(client.types(uri)).toEqual([
      'session/ready',
      'session/turnStarted',
      'session/responsePart',
      'session/delta',
      'session/turnComplete',
    ]);
    const { turns } = await stateOf(client, uri);
    expect(turns).toMatchObject([{ id: 't1', userMessage: { text: 'hello' }, state: 'complete' }]);
    expect(textIn(turns[0]?.responseParts)).toBe('Hello there');
  });

  it('[AHP-145] starts the agent only when the turn is stored, with the message and the model', async () => {
    const model = { id: 'small' };
    const folder = tmpdir();
    const { agent, puppet } = await openPuppetFixture({
      session: { model, workingDirectory: pathToFileURL(folder).href },
    });
    expect(puppet.turn).toMatchObject({ id: 't1', message: { text: 'go on' }, model, workingDirectory: folder });
    expect(agent.openings).toHaveLength(1);
  });

  it('[AHP-163] creates every part before text goes into it', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    puppet.turn.reasoning('hm');
    puppet.turn.text('a');
    puppet.turn.text('b');
    puppet.turn.reasoning('but');
    puppet.turn.text('c');
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    const known = new Set<unknown>();
    for (const { action } of envelopesOf(client, uri)) {
      if (action.type === 'session/responsePart') known.add((action.part as { id: string }).id);
      if (action.type === 'session/delta' || action.type === 'session/reasoning')
        expect(known).toContain(action.partId);
    }
    expect(known.size).toBe(4);
  });

  it('keeps text and thinking in the order they came, each run of one kind as one part', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    puppet.turn.reasoning('hm');
    puppet.turn.text('a');
    puppet.turn.text('b');
    puppet.turn.notify('tea time');
    puppet.turn.text('c');
    puppet.turn.reasoning('but');
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    expect((await stateOf(client, uri)).turns[0]?.responseParts).toMatchObject([
      { kind: 'reasoning', content: 'hm' },
      { kind: 'markdown', content: 'ab' },
      { kind: 'systemNotification', content: 'tea time' },
      { kind: 'markdown', content: 'c' },
      { kind: 'reasoning', content: 'but' },
    ]);
  });

  it('shows text while it comes, to everyone who watches', async () => {
    const { uri, puppet, join } = await openPuppetFixture();
    const phone = await join('phone');
    puppet.turn.text('first');
    await phone.action(uri, 'session/delta');
    expect(textIn((await stateOf(phone, uri)).activeTurn?.responseParts)).toBe('first');
    expect(phone.types(uri)).not.toContain('session/turnComplete');
  });

  it('streams a script at its pace', async () => {
    const prompts = { slowly: [{ text: 'abcd', chunk: 2, everyMs: 100 }] };
    const { client, uri, clock } = await openFixture({ scripts: [{ ...DEFAULT_SCRIPT, prompts }] });
    client.dispatch(uri, turnStarted('t1', 'slowly'));
    await client.action(uri, 'session/delta');
    await settle();
    const deltas = () =>
      envelopesOf(client, uri).flatMap(({ action }) => (action.type === 'session/delta' ? action.content : []));
    expect(deltas()).toEqual(['ab']);
    await clock.advance(100);
    expect(deltas()).toEqual(['ab', 'cd']);
    expect(client.types(uri)).toContain('session/turnComplete');
  });

  it('keeps what the agent says of its usage, the last word counting', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    puppet.turn.usage({ inputTokens: 1 });
    puppet.turn.usage({ inputTokens: 5, outputTokens: 7 });
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    expect((await stateOf(client, uri)).turns[0]?.usage).toEqual({ inputTokens: 5, outputTokens: 7 });
  });

  it('shows what the agent is doing', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    puppet.turn.activity('Reading');
    await client.action(uri, 'session/activityChanged');
    expect((await stateOf(client, uri)).summary.activity).toBe('Reading');
  });

  it('[AHP-164] may be given a title by the agent, and another one by a client', async () => {
    const { client, uri, puppet, join } = await openPuppetFixture();
    const phone = await join('phone');
    puppet.turn.title('Made up');
    const made = await phone.action(uri, 'session/titleChanged');
    expect(made).toMatchObject({ action: { title: 'Made up' } });
    expect(made.origin).toBeUndefined();
    client.dispatch(uri, { type: 'session/titleChanged', title: 'Chosen' });
    const chosen = await phone.action(uri, (action) => action.title === ('Chosen' as unknown));
    expect(chosen.origin).toMatchObject({ clientId: 'desk' });
    expect((await stateOf(phone, uri)).summary.title).toBe('Chosen');
  });
});

describe('the end of a turn', () => {
  it('[AHP-162] is an error when the agent fails, and keeps what it said before', async () => {
    const { client, uri } = await openFixture();
    await client.turn(uri, 'fail', 't1');
    const { turns, summary } = await stateOf(client, uri);
    expect(turns).toMatchObject([
      { state: 'error', error: { errorType: 'boom', message: 'It broke.' }, responseParts: [{ content: 'so far' }] },
    ]);
    expect(summary.status & 31).toBe(2);
    await client.turn(uri, 'hello');
    expect((await stateOf(client, uri)).summary.status & 31).toBe(1);
  });

  it('names the type of an error that the agent did not name', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    puppet.fail(new TypeError('x is not a function'));
    const { action } = await client.action(uri, 'session/error');
    expect(action.error).toEqual({ errorType: 'agent-failed', message: 'x is not a function' });
  });

  it('[AHP-146] stops the agent when it is cancelled: its signal fires, and the turn stays as it was', async () => {
    const { client, uri, puppet, join } = await openPuppetFixture();
    const phone = await join('phone');
    puppet.turn.text('so far');
    await phone.action(uri, 'session/delta');
    phone.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await client.action(uri, 'session/turnCancelled');
    expect(puppet.turn.signal.aborted).toBe(true);
    expect((await stateOf(client, uri)).turns).toMatchObject([
      { state: 'cancelled', responseParts: [{ content: 'so far' }] },
    ]);
  });

  it('[AHP-162] drops everything that an agent does after it', async () => {
    const { client, uri, puppet } = await openPuppetFixture();
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await client.action(uri, 'session/turnCancelled');
    const before = await stateOf(client, uri);
    puppet.turn.text('late');
    puppet.turn.reasoning('late');
    puppet.turn.notify('late');
    puppet.turn.title('late');
    puppet.turn.usage({ inputTokens: 1 });
    puppet.turn.activity('late');
    expect(puppet.turn.takeSteering()).toBeUndefined();
    await expect(puppet.turn.callTool({ name: 'any', input: {} })).rejects.toMatchObject({ name: 'AbortError' });
    await expect(puppet.turn.ask({ id: 'late', message: 'late' })).rejects.toMatchObject({ name: 'AbortError' });
    puppet.fail(new AgentError('late', 'late'));
    await settle();
    expect(await stateOf(client, uri)).toEqual(before);
    expect(client.types(uri).filter((type) => ENDS.includes(type))).toEqual(['session/turnCancelled']);
  });

  it('[AHP-162] drops text of an agent that goes on into the next turn', async () => {
    const { client, uri, puppet, agent } = await openPuppetFixture();
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    client.dispatch(uri, turnStarted('t2'));
    const next = await agent.turn(1);
    puppet.turn.text('of the first');
    next.turn.text('of the second');
    puppet.finish();
    await settle();
    const { activeTurn } = await stateOf(client, uri);
    expect(activeTurn?.id).toBe('t2');
    expect(textIn(activeTurn?.responseParts)).toBe('of the second');
  });

  it('[AHP-146] interrupts a script in the middle of a pause', async () => {
    const { client, uri, clock } = await openFixture();
    client.dispatch(uri, turnStarted('t1', 'slow'));
    await client.action(uri, 'session/delta');
    client.dispatch(uri, { type: 'session/turnCancelled', turnId: 't1' });
    await client.action(uri, 'session/turnCancelled');
    await clock.advance(60_000);
    expect(textIn((await stateOf(client, uri)).turns[0]?.responseParts)).toBe('a');
  });
});

describe('cutting history', () => {
  it('[AHP-152] aborts a running turn, which leaves no record, and tells the agent', async () => {
    const { client, uri, agent, puppet } = await openPuppetFixture();
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    client.dispatch(uri, turnStarted('t2'));
    const second = await agent.turn(1);
    client.dispatch(uri, { type: 'session/truncated', turnId: 't1' });
    await client.action(uri, 'session/truncated');
    await settle();
    expect(second.turn.signal.aborted).toBe(true);
    expect(agent.truncations).toEqual(['t1']);
    const state = await stateOf(client, uri);
    expect(state.activeTurn).toBeUndefined();
    expect(state.turns.map(({ id }) => id)).toEqual(['t1']);
    expect(client.types(uri).filter((type) => ENDS.includes(type))).toEqual(['session/turnComplete']);
  });

  it('[AHP-152] is told to the agent before the message that is sent right behind it', async () => {
    const { client, uri, agent, puppet } = await openPuppetFixture();
    puppet.finish();
    await client.action(uri, 'session/turnComplete');
    client.dispatch(uri, { type: 'session/truncated' });
    client.dispatch(uri, turnStarted('t2', 'said better'));
    const second = await agent.turn(1);
    expect(second.truncationsBefore).toBe(1);
    expect(agent.truncations).toEqual([undefined]);
  });
});
