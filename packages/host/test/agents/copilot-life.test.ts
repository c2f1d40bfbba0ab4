import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { copilotUnderTest, hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { CopilotFixture, WAIT_MAX_MS } from '../support/copilot-fixture.js';
import { openSession } from '../support/fake-turn.js';
import { textIn } from '../support/session-fixture.js';

const text = (said: string) => ({ text: [said] });
const knownOf = (fixture: CopilotFixture, ...words: string[]) => words.filter((word) => fixture.heard().includes(word));

describe.skipIf(!hasCopilot)(`a Copilot session${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('goes on after the host was started anew, tool results and all', async () => {
    const view = { calls: [{ name: 'view', input: { path: 'a.txt' } }] };
    const fixture = await CopilotFixture.open([view, text('Plums.'), text('Still plums.')], {
      files: { 'a.txt': 'plums!' },
    });
    await fixture.turn('what is in a.txt?');
    await fixture.stop();
    expect(await fixture.copilot.pids()).toEqual([]);
    await fixture.restart();
    const turn = await fixture.turn('and now?');
    expect(textIn(turn.responseParts)).toBe('Still plums.');
    const words = ['what is in a.txt?', 'plums!', 'Plums.', 'and now?'];
    expect(knownOf(fixture, ...words)).toEqual(words);
    expect(fixture.heard()).not.toContain('This session began earlier');
  });

  it('is told again what was said when its files are gone, and people are told that', async () => {
    const fixture = await CopilotFixture.open([text('A plum.'), text('It was a plum.')]);
    await fixture.turn('which fruit?');
    await fixture.stop();
    await rm(path.join(fixture.copilot.home, 'session-state'), { recursive: true });
    await fixture.restart();
    const turn = await fixture.turn('which was it?');
    expect(knownOf(fixture, 'Person: which fruit?', 'You: A plum.')).toEqual(['Person: which fruit?', 'You: A plum.']);
    expect(JSON.stringify(turn.responseParts)).toContain('told again');
    expect((await fixture.state()).summary.title).toBe('which fruit?');
  });

  it('begins with nothing when the host knows nothing of a session that had its name', async () => {
    const fixture = await CopilotFixture.open([text('A plum.'), text('No idea.')]);
    await fixture.turn('which fruit?');
    await fixture.startOver();
    await fixture.turn('which was it?');
    expect(knownOf(fixture, 'which fruit?', 'A plum.')).toEqual([]);
  });

  it('forgets what was cut off also after a restart', async () => {
    const fixture = await CopilotFixture.open([text('A plum.'), text('A walnut.'), text('Yes.')]);
    const { id } = await fixture.turn('which fruit?');
    await fixture.turn('which nut?');
    await fixture.restart();
    fixture.dispatch({ type: 'session/truncated', turnId: id });
    const turn = await fixture.turn('is it?');
    expect(JSON.stringify(turn.responseParts)).not.toContain('told again');
    expect(knownOf(fixture, 'which fruit?', 'A plum.', 'which nut?', 'A walnut.')).toEqual(['which fruit?', 'A plum.']);
  });

  it('survives the death of the runtime: the turn fails, the next one goes on', async () => {
    const fixture = await CopilotFixture.open([
      text('A plum.'),
      { text: ['well'], ending: 'hang' },
      text('Still a plum.'),
    ]);
    await fixture.turn('which fruit?');
    const turnId = fixture.begin('sure?');
    await fixture.action(({ type, content }) => type === 'session/delta' && content === 'well');
    for (const pid of await fixture.copilot.pids()) process.kill(pid, 'SIGKILL');
    const { state, error } = await fixture.finished(turnId);
    expect([state, error?.errorType]).toEqual(['error', 'other']);
    expect(textIn((await fixture.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect(knownOf(fixture, 'which fruit?', 'A plum.')).toEqual(['which fruit?', 'A plum.']);
  });

  it('is not held up by a runtime that does not react: it is killed, and the next turn goes on', async () => {
    const fixture = await CopilotFixture.open([
      text('A plum.'),
      { text: ['well'], ending: 'hang' },
      text('Still a plum.'),
    ]);
    await fixture.turn('which fruit?');
    const turnId = fixture.begin('sure?');
    await fixture.action(({ type, content }) => type === 'session/delta' && content === 'well');
    const frozen = await fixture.copilot.pids();
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    expect(textIn((await fixture.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect((await fixture.copilot.pids()).filter((pid) => frozen.includes(pid))).toEqual([]);
  });

  it('takes the next turn when one is cancelled at once', async () => {
    const fixture = await CopilotFixture.open([text('One.'), text('Two.')]);
    const turnId = fixture.begin('first');
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    const turn = await fixture.turn('second');
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', expect.stringMatching(/^(One|Two)\.$/)]);
    expect(fixture.heard()).toContain('second');
  });

  it('ends its runtime when the host dies without a word', async () => {
    const { home, server, pids, close } = await copilotUnderTest([]);
    onTestFinished(close);
    const child = spawn(process.execPath, [programFile('copilot-child'), home, server.url], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(child.stdout, 'data');
    // The runtime starts short-lived helpers of its own, which have the same environment.
    await expect.poll(async () => (await pids()).length).toBe(1);
    child.kill('SIGKILL');
    await expect.poll(pids, { timeout: 5_000 }).toEqual([]);
  });

  it('does not care how another one ends', async () => {
    const fixture = await CopilotFixture.open([
      text('A plum.'),
      { text: ['well'], ending: 'hang' },
      text('Still a plum.'),
    ]);
    await fixture.turn('which fruit?');
    const [pid] = await fixture.copilot.pids();
    const other = await fixture.client.session('ahp-session:/other', { provider: 'copilot' });
    fixture.client.dispatch(other, { type: 'session/turnStarted', turnId: 'o-1', userMessage: { text: 'go' } });
    await fixture.client.action(other, ({ type, content }) => type === 'session/delta' && content === 'well');
    await fixture.client.request('disposeSession', { channel: other });
    expect(textIn((await fixture.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect(await fixture.copilot.pids()).toEqual([pid]);
  });

  it('shares one runtime with the others, which ends with the last of them', async () => {
    const { agent, pids, close } = await copilotUnderTest([]);
    onTestFinished(close);
    const first = await openSession(agent);
    const second = await openSession(agent, 'ahp-session:/2');
    expect((await pids()).length).toBe(1);
    await first.close();
    expect((await pids()).length).toBe(1);
    await second.close();
    await expect.poll(pids).toEqual([]);
  });
});
