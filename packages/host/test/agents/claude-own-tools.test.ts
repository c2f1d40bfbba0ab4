/** Claude's own tools: every call is shown, gated and confirmed by the host. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Gate } from '@atrium/core/contracts/extension.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasClaude, WHY_SKIPPED } from '../support/claude-agent.js';
import { bash, ClaudeFixture, callIn, callsOf } from '../support/claude-fixture.js';
import { callsIn, textIn } from '../support/session-fixture.js';

const DONE = { text: ['Done.'] };
const LIMIT = 60_000;

function gateOn(toolName: string, check: Gate['check']): Gate {
  return { name: 'ci-watcher', concerns: (call) => call.toolName === toolName, check };
}

describe.skipIf(!hasClaude)(`Claude's own tools${WHY_SKIPPED}`, { timeout: LIMIT }, () => {
  it('[UNI-088] run a command once a person has agreed, who sees what it is', async () => {
    const fixture = await ClaudeFixture.open([bash('echo plums > made.txt && cat made.txt'), DONE]);
    const turnId = fixture.begin('make it');
    const question = await fixture.question(turnId);
    expect(question.confirmationTitle).toBe('Run "echo plums > made.txt && cat made.txt"?');
    expect(existsSync(path.join(fixture.folder, 'made.txt'))).toBe(false);
    fixture.approve(turnId, question.toolCallId);
    const turn = await fixture.finished(turnId);
    expect(callIn(turn)).toMatchObject({
      toolName: 'Bash',
      status: 'completed',
      success: true,
      confirmed: 'user-action',
      pastTenseMessage: 'Ran "echo plums > made.txt && cat made.txt"',
      content: [{ type: 'text', text: 'plums' }],
    });
    expect([textIn(turn.responseParts), fixture.heard().includes('plums'), fixture.questions]).toEqual([
      'Done.',
      true,
      1,
    ]);
  });

  it('[CUS-030] are not even named to the model where a custom agent does not use them', async () => {
    let isHidden = (name: string) => name !== 'Read';
    const fixture = await ClaudeFixture.open([DONE, DONE], { extension: { hidden: () => isHidden } });
    const names = () => {
      const { tools } = fixture.claude.server.requests.at(-1)?.body ?? {};
      return (tools as { name: string }[]).map(({ name }) => name);
    };
    await fixture.turn('go');
    expect(names()).toContain('Read');
    expect(names()).not.toEqual(expect.arrayContaining(['Bash']));
    isHidden = () => false;
    await fixture.turn('go on');
    expect(names()).toEqual(expect.arrayContaining(['Bash', 'Read', 'Edit']));
  });

  it('[UNI-088] show the input of a call while the model writes it', async () => {
    const fixture = await ClaudeFixture.open([bash('ls'), DONE]);
    const turn = await fixture.turn('list');
    const deltas = fixture.client.envelopes(fixture.uri).flatMap(({ action }) => {
      return action.type === 'session/toolCallDelta' ? (action as unknown as { content: string }).content : [];
    });
    expect(deltas.length).toBeGreaterThan(0);
    expect(JSON.parse(deltas.join(''))).toEqual(JSON.parse(String((callIn(turn) as { toolInput?: string }).toolInput)));
  });

  it('[UNI-088] [UNI-089] do not run a command that a person denies, and the model hears why', async () => {
    const fixture = await ClaudeFixture.open([bash('touch made.txt'), DONE]);
    const turnId = fixture.begin('make it');
    fixture.deny(turnId, (await fixture.question(turnId)).toolCallId, 'write to the blue file instead');
    const turn = await fixture.finished(turnId);
    expect(callIn(turn)).toMatchObject({ status: 'cancelled', reason: 'denied' });
    expect(existsSync(path.join(fixture.folder, 'made.txt'))).toBe(false);
    expect([turn.state, fixture.heard().includes('write to the blue file instead')]).toEqual(['complete', true]);
  });

  it('[UNI-088] run what a person has made of the input', async () => {
    const fixture = await ClaudeFixture.open([
      callsOf({ name: 'Write', input: { file_path: 'other.txt', content: 'plums' } }),
      DONE,
    ]);
    const turnId = fixture.begin('write it');
    const { toolCallId } = await fixture.question(turnId);
    const file = path.join(fixture.folder, 'made.txt');
    fixture.approve(turnId, toolCallId, { editedToolInput: JSON.stringify({ file_path: file, content: 'pears' }) });
    expect((await fixture.finished(turnId)).state).toBe('complete');
    expect(await readFile(file, 'utf8')).toBe('pears');
    expect(existsSync(path.join(fixture.folder, 'other.txt'))).toBe(false);
  });

  it('[UNI-103] are looked at again by gates when a person has changed the input', async () => {
    const gate = gateOn('Bash', ({ input }) =>
      JSON.stringify(input).includes('pears') ? { kind: 'deny', reason: 'no pears' } : { kind: 'pass' },
    );
    const fixture = await ClaudeFixture.open([bash('touch plums'), DONE], { extension: { gates: [gate] } });
    const turnId = fixture.begin('make it');
    const { toolCallId } = await fixture.question(turnId);
    fixture.approve(turnId, toolCallId, {
      editedToolInput: JSON.stringify({ command: 'touch pears', description: 'x' }),
    });
    await fixture.finished(turnId);
    expect([existsSync(path.join(fixture.folder, 'pears')), fixture.heard().includes('no pears')]).toEqual([
      false,
      true,
    ]);
  });

  it('[UNI-088] [UNI-089] are stopped by a gate, also where Claude would not ask, and nobody is bothered', async () => {
    const gate = gateOn('Read', () => ({ kind: 'deny', reason: 'CI is failing' }));
    const options = { files: { 'a.txt': 'apples' }, extension: { gates: [gate] } };
    const answers = [callsOf({ name: 'Read', input: { file_path: 'a.txt' } }), DONE];
    const fixture = await ClaudeFixture.open(answers, options);
    const turn = await fixture.turn('read it');
    expect(callIn(turn)).toMatchObject({ status: 'cancelled', reasonMessage: 'ci-watcher: CI is failing' });
    expect([fixture.questions, fixture.heard().includes('ci-watcher: CI is failing')]).toEqual([0, true]);
    expect(fixture.heard().includes('apples')).toBe(false);
  });

  it('[UNI-041] still ask a person when a gate has no objection, and note what it had to say', async () => {
    const gate = gateOn('Bash', () => ({ kind: 'pass', note: 'mind the pears' }));
    const fixture = await ClaudeFixture.open([bash('touch made.txt'), DONE], { extension: { gates: [gate] } });
    const turnId = fixture.begin('make it');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    await fixture.finished(turnId);
    expect([fixture.questions, fixture.heard().includes('mind the pears')]).toEqual([1, true]);
  });

  it('are put to a person when a gate wants that, though Claude would not ask', async () => {
    const gate = gateOn('Bash', () => ({ kind: 'ask', reason: 'look twice' }));
    const fixture = await ClaudeFixture.open([bash('ls'), DONE], { extension: { gates: [gate] } });
    const turnId = fixture.begin('list');
    const question = await fixture.question(turnId);
    expect(question.confirmationTitle).toBe('ci-watcher: look twice');
    fixture.approve(turnId, question.toolCallId);
    expect(callIn(await fixture.finished(turnId))).toMatchObject({ status: 'completed', success: true });
    expect(fixture.questions).toBe(1);
  });

  it('[UNI-088] are shown also when nobody has to be asked', async () => {
    const answers = [callsOf({ name: 'Read', input: { file_path: 'a.txt' } }), DONE];
    const fixture = await ClaudeFixture.open(answers, { files: { 'a.txt': 'apples' } });
    const turn = await fixture.turn('read it');
    expect(callIn(turn)).toMatchObject({
      toolName: 'Read',
      status: 'completed',
      confirmed: 'not-needed',
      invocationMessage: 'Read a.txt',
      content: [{ type: 'text', text: 'apples' }],
    });
    expect(fixture.questions).toBe(0);
  });

  it('are shown as failed when they could not be run', async () => {
    const calls = callsOf(
      { name: 'Read', input: { nothing: 1 } },
      { name: 'Juggle', input: {} },
      { name: 'Bash', input: '{"comm' },
      { name: 'Bash', input: { command: 'ls nowhere', description: 'x' } },
    );
    const fixture = await ClaudeFixture.open([calls, DONE]);
    const { responseParts, state } = await fixture.turn('try');
    const seen = responseParts.flatMap((part) => (part.kind === 'toolCall' ? part.toolCall : []));
    expect(seen.map((call) => [call.toolName, call.status, 'success' in call && call.success])).toEqual([
      ['Read', 'completed', false],
      ['Juggle', 'completed', false],
      ['Bash', 'completed', false],
      ['Bash', 'completed', false],
    ]);
    expect(state).toBe('complete');
  });

  it('[UNI-088] are asked about also when a sub-agent calls them', async () => {
    const gate = gateOn('Bash', ({ input }) =>
      JSON.stringify(input).includes('pears') ? { kind: 'deny', reason: 'no pears' } : { kind: 'pass' },
    );
    const task = { description: 'count plums', prompt: 'count them', subagent_type: 'general-purpose' };
    const answers = [callsOf({ name: 'Agent', input: task }), bash('touch plums'), bash('touch pears'), DONE, DONE];
    const fixture = await ClaudeFixture.open(answers, { extension: { gates: [gate] } });
    const turnId = fixture.begin('count');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    const { responseParts } = await fixture.finished(turnId);
    const calls = callsIn(responseParts).map(({ toolName, status }) => [toolName, status]);
    expect(calls).toEqual([
      ['Agent', 'completed'],
      ['Bash', 'completed'],
      ['Bash', 'cancelled'],
    ]);
    expect(['plums', 'pears'].filter((name) => existsSync(path.join(fixture.folder, name)))).toEqual(['plums']);
    expect(textIn(responseParts)).toBe('Done.');
  });

  it('put questions to a person as the host does, and take the answers', async () => {
    const options = [
      { label: 'Plum', description: 'Blue.' },
      { label: 'Pear', description: 'Green.' },
    ];
    const questions = [{ question: 'Which fruit?', header: 'Fruit', options, multiSelect: false }];
    const fixture = await ClaudeFixture.open([callsOf({ name: 'AskUserQuestion', input: { questions } }), DONE]);
    const turnId = fixture.begin('choose');
    const { request } = await fixture.action(({ type }) => type === 'session/inputRequested');
    const { id } = request as { id: string };
    expect(request).toMatchObject({ message: 'Which fruit?', questions: [{ kind: 'single-select' }] });
    const answers = { 0: { state: 'submitted', value: { kind: 'selected', value: 'Pear' } } };
    fixture.dispatch({ type: 'session/inputCompleted', requestId: id, response: 'accept', answers });
    const turn = await fixture.finished(turnId);
    expect(callIn(turn)).toMatchObject({
      displayName: 'Ask',
      success: true,
      content: [{ type: 'text', text: 'Pear' }],
    });
    expect(fixture.heard()).toContain('"Which fruit?"="Pear"');
  });

  it.skipIf(process.platform !== 'linux').each([
    ['a patient command', 'touch started && sleep 300'],
    ['a command that does not listen', `trap '' TERM INT HUP; touch started; while :; do sleep 0.2; done`],
    [
      'one in a group of its own',
      `setsid --wait sh -c "trap '' TERM INT HUP; touch started; while :; do sleep 0.2; done"`,
    ],
  ])('[UNI-093] end with the turn, and every process with them: %s', async (_what, command) => {
    const fixture = await ClaudeFixture.open([bash(command), DONE]);
    const turnId = fixture.begin('wait');
    fixture.approve(turnId, (await fixture.question(turnId)).toolCallId);
    while (!existsSync(path.join(fixture.folder, 'started'))) await new Promise((resolve) => setTimeout(resolve, 20));
    const pids = await fixture.claude.pids();
    onTestFinished(() => killed(pids));
    expect(pids.length).toBeGreaterThan(1);
    fixture.dispatch({ type: 'session/turnCancelled', turnId });
    const until = Date.now() + 2_000;
    while ((await fixture.claude.pids()).length > 0 && Date.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(await fixture.claude.pids()).toEqual([]);
    expect(callIn(await fixture.finished(turnId)).status).toBe('cancelled');
  });
});

/** So that a test that fails leaves nobody behind. */
function killed(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // Gone, as it should be.
    }
  }
}
