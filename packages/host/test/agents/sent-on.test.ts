/** A turn that goes on after its end, by each of the agents: one conversation, and history is cut around all of it. */

import type { Extension } from '@atrium/core/contracts/extension.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { modelAgent } from '../../../agents/src/model/backend.js';
import { ACP_TEST_MAX_MS, acpFixture } from '../support/acp-fixture.js';
import { hasClaude, WHY_SKIPPED as WHY_NO_CLAUDE } from '../support/claude-agent.js';
import { ClaudeFixture } from '../support/claude-fixture.js';
import { hasCopilot, WHY_SKIPPED as WHY_NO_COPILOT } from '../support/copilot-agent.js';
import { CopilotFixture } from '../support/copilot-fixture.js';
import { ModelServer } from '../support/model-server.js';
import { startHost, stateOf, textIn, turnStarted } from '../support/session-fixture.js';

/** Objects once in every turn that it is told of. */
function guard(): Pick<Extension, 'beforeEnd'> {
  return { beforeEnd: async ({ wasContinued }) => (wasContinued ? undefined : 'Run the tests.') };
}

const SAID = [{ text: ['Built.'] }, { text: ['Tested.'] }, { text: ['Third.'] }, { text: ['Fourth.'] }];
const KNOWN = ['build it', 'Built.', 'Run the tests.', 'Tested.', 'what now?'];
const heardOf = (heard: string) => KNOWN.filter((words) => heard.includes(words));

describe('a turn that is sent on', { timeout: ACP_TEST_MAX_MS }, () => {
  it('goes on with a model, and is forgotten as a whole', async () => {
    const server = await ModelServer.start(...SAID);
    onTestFinished(() => server.stop());
    const models = [{ id: 'm-1', name: 'M 1' }];
    const options = { provider: 'model', displayName: 'M', kind: 'openai-compatible', models, retries: 0 } as const;
    const agents = [modelAgent({ ...options, baseURL: server.url })];
    const host = await startHost({ scripts: [], agents, extensions: [{ id: 'guard', name: 'guard', ...guard() }] });
    const client = await host.client('desk');
    const uri = await client.session(undefined, { provider: 'model' });
    const turn = async (id: string, text: string) => {
      client.dispatch(uri, turnStarted(id, text));
      await client.action(uri, (action) => action.type === 'session/turnComplete' && action.turnId === id);
    };
    await turn('t1', 'build it');
    expect(heardOf(server.heard())).toEqual(KNOWN.slice(0, 3));
    await turn('t2', 'what now?');
    expect(heardOf(server.heard(2))).toEqual(KNOWN);
    // What is left after the cut is all of the first turn, and nothing of the second.
    client.dispatch(uri, { type: 'session/truncated', turnId: 't1' });
    await client.action(uri, 'session/truncated');
    server.answer({ text: ['Fifth.'] }, { text: ['Sixth.'] });
    await turn('t3', 'and then?');
    expect(heardOf(server.heard(4))).toEqual(KNOWN.slice(0, 4));
    const { turns, summary } = await stateOf(client, uri);
    expect([summary.title, turns.length, textIn(turns[0]?.responseParts)]).toEqual(['Build it', 2, 'Built.Tested.']);
  });

  it('goes on with an agent behind a command', async () => {
    const { fixture } = await acpFixture(SAID, { extras: guard() });
    await fixture.turn('build it');
    expect(heardOf(await fixture.receivedMessages())).toEqual(KNOWN.slice(0, 4));
  });

  it.skipIf(!hasClaude)(`goes on with Claude, and the next turn knows all of it${WHY_NO_CLAUDE}`, async () => {
    const fixture = await ClaudeFixture.open(SAID, { extension: guard() });
    const turn = await fixture.turn('build it');
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Built.Tested.']);
    expect(heardOf(fixture.heard())).toEqual(KNOWN.slice(0, 3));
    await fixture.turn('what now?');
    expect(heardOf(fixture.heard(2))).toEqual(KNOWN);
    expect((await fixture.state()).summary.title).toBe('Build it');
  });

  it.skipIf(!hasCopilot)(`goes on with Copilot, and is cut off as a whole${WHY_NO_COPILOT}`, async () => {
    const fixture = await CopilotFixture.open(SAID, { extension: guard() });
    const turn = await fixture.turn('build it');
    expect([turn.state, textIn(turn.responseParts)]).toEqual(['complete', 'Built.Tested.']);
    expect(heardOf(fixture.heard())).toEqual(KNOWN.slice(0, 3));
    await fixture.turn('what now?');
    expect(heardOf(fixture.heard(2))).toEqual(KNOWN);
    fixture.dispatch({ type: 'session/truncated', turnId: turn.id });
    await fixture.action(({ type }) => type === 'session/truncated');
    fixture.copilot.server.answer({ text: ['Fifth.'] }, { text: ['Sixth.'] });
    await fixture.turn('and then?');
    expect(heardOf(fixture.heard(4))).toEqual(KNOWN.slice(0, 4));
  });
});
