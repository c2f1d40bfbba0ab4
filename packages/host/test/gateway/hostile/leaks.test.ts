/** Two sessions, a provider in each, and one of them is after everything that belongs to the other. */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { callsIn, stateOf } from '../../support/session-fixture.js';
import { settle } from '../../support/test-host.js';
import type { TestProvider } from '../../support/test-provider.js';
import { letIn, openProject, openProjectHost } from './support/project-host.js';

const TOOL = { name: 'work', description: 'Works.', parameters: {} };
const EVENTS = ['user.message', 'assistant.message', 'tool.execution_complete', 'assistant.intent'];
const GATE = { match: { tool: 'work' }, action: 'gate', gateId: 'g' };

/** Asks until the gateway has dealt with everything that was sent before. */
async function heard(provider: TestProvider): Promise<void> {
  provider.send({ type: 'stream.query', queryId: 'last', streams: ['mine'], last: 1 });
  await provider.next('stream.history');
}

function everythingIn({ received }: TestProvider): string {
  return received.map((message) => JSON.stringify(message)).join('\n');
}

describe('a hostile provider', () => {
  it('[GW-052] [GW-054] sees nothing of another session, and changes nothing there', async () => {
    const project = await openProjectHost();
    const theirs = await openProject(project, 'victim');
    const own = await openProject(project, 'hostile');
    const victim = await letIn(project, theirs.token('victim'));
    await victim.hello({ name: 'victim', tools: [TOOL], subscribe: EVENTS, hooks: { onPreToolUse: [GATE] } });
    const hostile = await letIn(project, own.token('hostile'));
    for (const session of ['all', theirs.id])
      hostile.send({ type: 'hello', name: 'hostile', protocolVersion: 2, session });
    await hostile.hello({ name: 'hostile', tools: [TOOL], subscribe: EVENTS, hooks: { onPreToolUse: [GATE] } });

    project.client.dispatch(theirs.uri, { type: 'session/titleChanged', title: 'CANARY title' });
    victim.send({ type: 'push', stream: 'diary', level: 'surface', event: 'CANARY push' });
    const { turn, finish } = await theirs.turn();
    turn.text('CANARY answer');
    const outcome = turn.callTool({ name: 'work', input: { secret: 'CANARY args' } });
    const { callId } = await victim.next('gate.check');
    // The worst case: it knows every id there is.
    hostile.send({ type: 'gate.result', callId, gateId: 'g', decision: 'deny', reason: 'ROBBER' });
    await heard(hostile);
    victim.send({ type: 'gate.result', callId, gateId: 'g', decision: 'allow' });
    const { id } = await victim.next('tool.call');
    const sessionId = theirs.id;
    for (const message of [
      { type: 'tool.progress', id, message: 'ROBBER' },
      { type: 'tool.result', id, data: 'ROBBER' },
      { type: 'transform.result', callId: id, content: 'ROBBER' },
      { type: 'push', sessionId, level: 'inject', event: 'ROBBER' },
      { type: 'push', broadcast: true, level: 'surface', event: 'ROBBER' },
      { type: 'tools.update', sessionId, tools: [{ ...TOOL, name: 'robber' }] },
      { type: 'hooks.update', sessionId, onPreToolUse: [{ match: {}, action: 'deny', reason: 'ROBBER' }] },
      { type: 'context.update', sessionId, context: 'ROBBER' },
      { type: 'filter.set', sessionId, stream: 'diary@victim', rules: [{ match: '.', outcome: 'drop' }] },
      { type: 'stream.query', queryId: 'q', streams: ['diary@victim'], last: 9 },
      { type: 'stream.query', queryId: 'q', sessionId, streams: ['diary'], last: 9 },
      { type: 'session.ready', sessionId },
      { type: 'shutdown.ready', sessionId },
    ])
      hostile.send(message);
    await heard(hostile);
    victim.send({ type: 'tool.result', id, data: 'CANARY result' });
    expect(await outcome).toMatchObject({ success: true, text: 'CANARY result' });
    finish();
    await project.clock.advance(2_000);
    await expect.poll(async () => (await stateOf(project.client, theirs.uri)).activeTurn).toBeUndefined();
    await heard(hostile);
    await heard(victim);

    expect(everythingIn(hostile)).not.toContain('CANARY');
    // Errors repeat the id that it named itself.
    const unasked = hostile.received.filter(({ type }) => type !== 'error');
    expect(JSON.stringify(unasked)).not.toContain(theirs.id);
    expect(hostile.of('session.event').map(({ sessionId: about }) => about)).toEqual([]);
    expect(everythingIn(victim)).toContain('CANARY');
    expect(everythingIn(victim)).not.toContain('ROBBER');
    expect(everythingIn(victim)).not.toContain(own.id);
    const state = JSON.stringify(await stateOf(project.client, theirs.uri));
    expect(state).not.toContain('ROBBER');
    expect(state).not.toContain('robber');
    expect(JSON.stringify(await stateOf(project.client, own.uri))).not.toContain('CANARY');
  });

  it('[REL-050] [GW-086] cannot become another provider, and cannot take its calls', async () => {
    const project = await openProjectHost();
    const session = await openProject(project, 'victim', 'hostile');
    const victim = await letIn(project, session.token('victim'));
    const { reconnectToken } = await victim.hello({ name: 'victim', tools: [TOOL] });
    const hostile = await letIn(project, session.token('hostile'));
    for (const claim of [{}, { reconnectToken: 'tok-1' }, { reconnectToken: `${reconnectToken}x` }]) {
      hostile.send({ type: 'hello', name: 'victim', protocolVersion: 2, ...claim });
      expect(await hostile.next('error')).toMatchObject({ code: 'DUPLICATE_INSTANCE' });
    }
    // Beside the other one it cannot stand either with a tool of the same name.
    hostile.send({ type: 'hello', name: 'hostile', protocolVersion: 2, tools: [TOOL] });
    expect(await hostile.next('error')).toMatchObject({ code: 'TOOL_CONFLICT' });
    // What is listed and never binds would close what it may guard.
    await hostile.hello({ name: 'hostile' });
    const { turn } = await session.turn();
    const outcome = turn.callTool({ name: 'work', input: {} });
    const { id } = await victim.next('tool.call');
    victim.send({ type: 'tool.result', id, data: 'mine' });
    expect(await outcome).toMatchObject({ text: 'mine' });
    expect(hostile.of('tool.call')).toEqual([]);
  });

  it('[GW-130] [REL-048] gets no file but its own, and never waits for one', async () => {
    const project = await openProjectHost();
    const session = await openProject(project, 'hostile');
    const provider = await letIn(project, session.token('hostile'));
    const { persistDir = '' } = await provider.hello({ name: 'hostile', tools: [TOOL] });
    const others = path.join(project.providerFolder, 'victim');
    await mkdir(others);
    await writeFile(path.join(others, 'secret'), 'CANARY');
    await symlink(path.join(others, 'secret'), path.join(persistDir, 'link'));
    await symlink(others, path.join(persistDir, 'folder'));
    await symlink('/dev/zero', path.join(persistDir, 'device'));
    execFileSync('mkfifo', [path.join(persistDir, 'fifo')]);
    const files = [
      'link',
      'folder/secret',
      'device',
      'fifo',
      '../victim/secret',
      '.',
      '../../../../../../../etc/passwd',
    ];
    const { turn, finish } = await session.turn();
    for (const file of [...files.map((name) => `${persistDir}/${name}`), '/dev/zero', 'secret', `${persistDir}\0/x`]) {
      const outcome = turn.callTool({ name: 'work', input: {} });
      const { id } = await provider.next('tool.call');
      provider.send({ type: 'tool.result', id, file: { path: file, size: 6, mimeType: 'text/plain', ttl: 60 } });
      expect(await outcome, file).toMatchObject({ kind: 'completed', success: false });
    }
    finish();
    await settle();
    const state = await stateOf(project.client, session.uri);
    expect(callsIn(state.turns.at(-1)?.responseParts)).toHaveLength(10);
    expect(JSON.stringify(state)).not.toContain('CANARY');
  });
});
