import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { programFile } from '../../../../test/support/programs.js';
import { copilotUnderTest, hasCopilot, WHY_SKIPPED } from '../support/copilot-agent.js';
import { CopilotRoom, WAIT_MAX_MS } from '../support/copilot-room.js';
import { openSession } from '../support/fake-turn.js';
import { textIn } from '../support/session-room.js';

const text = (said: string) => ({ text: [said] });
const knownOf = (room: CopilotRoom, ...words: string[]) => words.filter((word) => room.heard().includes(word));

describe.skipIf(!hasCopilot)(`a Copilot session${WHY_SKIPPED}`, { timeout: 2 * WAIT_MAX_MS }, () => {
  it('goes on after the host was started anew, tool results and all', async () => {
    const view = { calls: [{ name: 'view', input: { path: 'a.txt' } }] };
    const room = await CopilotRoom.open([view, text('Plums.'), text('Still plums.')], { files: { 'a.txt': 'plums!' } });
    await room.turn('what is in a.txt?');
    await room.stop();
    expect(await room.copilot.pids()).toEqual([]);
    await room.restart();
    const turn = await room.turn('and now?');
    expect(textIn(turn.responseParts)).toBe('Still plums.');
    const words = ['what is in a.txt?', 'plums!', 'Plums.', 'and now?'];
    expect(knownOf(room, ...words)).toEqual(words);
    expect(room.heard()).not.toContain('This session began earlier');
  });

  it('is told again what was said when its files are gone, and people are told that', async () => {
    const room = await CopilotRoom.open([text('A plum.'), text('It was a plum.')]);
    await room.turn('which fruit?');
    await room.stop();
    await rm(path.join(room.copilot.home, 'session-state'), { recursive: true });
    await room.restart();
    const turn = await room.turn('which was it?');
    expect(knownOf(room, 'Person: which fruit?', 'You: A plum.')).toEqual(['Person: which fruit?', 'You: A plum.']);
    expect(JSON.stringify(turn.responseParts)).toContain('told again');
    expect((await room.state()).summary.title).toBe('which fruit?');
  });

  it('begins with nothing when the host knows nothing of a session that had its name', async () => {
    const room = await CopilotRoom.open([text('A plum.'), text('No idea.')]);
    await room.turn('which fruit?');
    await room.startOver();
    await room.turn('which was it?');
    expect(knownOf(room, 'which fruit?', 'A plum.')).toEqual([]);
  });

  it('forgets what was cut off also after a restart', async () => {
    const room = await CopilotRoom.open([text('A plum.'), text('A walnut.'), text('Yes.')]);
    const { id } = await room.turn('which fruit?');
    await room.turn('which nut?');
    await room.restart();
    room.dispatch({ type: 'session/truncated', turnId: id });
    const turn = await room.turn('is it?');
    expect(JSON.stringify(turn.responseParts)).not.toContain('told again');
    expect(knownOf(room, 'which fruit?', 'A plum.', 'which nut?', 'A walnut.')).toEqual(['which fruit?', 'A plum.']);
  });

  it('survives the death of the runtime: the turn fails, the next one goes on', async () => {
    const room = await CopilotRoom.open([text('A plum.'), { text: ['well'], ending: 'hang' }, text('Still a plum.')]);
    await room.turn('which fruit?');
    const turnId = room.begin('sure?');
    await room.action(({ type, content }) => type === 'session/delta' && content === 'well');
    for (const pid of await room.copilot.pids()) process.kill(pid, 'SIGKILL');
    const { state, error } = await room.finished(turnId);
    expect([state, error?.errorType]).toEqual(['error', 'other']);
    expect(textIn((await room.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect(knownOf(room, 'which fruit?', 'A plum.')).toEqual(['which fruit?', 'A plum.']);
  });

  it('is not held up by a runtime that does not react: it is killed, and the next turn goes on', async () => {
    const room = await CopilotRoom.open([text('A plum.'), { text: ['well'], ending: 'hang' }, text('Still a plum.')]);
    await room.turn('which fruit?');
    const turnId = room.begin('sure?');
    await room.action(({ type, content }) => type === 'session/delta' && content === 'well');
    const frozen = await room.copilot.pids();
    for (const pid of frozen) process.kill(pid, 'SIGSTOP');
    room.dispatch({ type: 'session/turnCancelled', turnId });
    expect(textIn((await room.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect((await room.copilot.pids()).filter((pid) => frozen.includes(pid))).toEqual([]);
  });

  it('takes the next turn when one is cancelled at once', async () => {
    const room = await CopilotRoom.open([text('One.'), text('Two.')]);
    const turnId = room.begin('first');
    room.dispatch({ type: 'session/turnCancelled', turnId });
    const turn = await room.turn('second');
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', expect.stringMatching(/^(One|Two)\.$/)]);
    expect(room.heard()).toContain('second');
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
    const room = await CopilotRoom.open([text('A plum.'), { text: ['well'], ending: 'hang' }, text('Still a plum.')]);
    await room.turn('which fruit?');
    const [pid] = await room.copilot.pids();
    const other = await room.desk.session('ahp-session:/other', { provider: 'copilot' });
    room.desk.dispatch(other, { type: 'session/turnStarted', turnId: 'o-1', userMessage: { text: 'go' } });
    await room.desk.action(other, ({ type, content }) => type === 'session/delta' && content === 'well');
    await room.desk.request('disposeSession', { channel: other });
    expect(textIn((await room.turn('and now?')).responseParts)).toBe('Still a plum.');
    expect(await room.copilot.pids()).toEqual([pid]);
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
