/** The same scenario over agents of different abilities: the same comes of it, or it was said beforehand. */

import type { AgentAbilities, AgentBackend, AgentTurn } from '@atrium/core/contracts/agent.js';
import type { RootState, SessionState, ToolCallState } from '@atrium/protocol';
import { describe, expect, it } from 'vitest';
import type { Script } from '../../../../agents/src/scripted/script.js';
import { sectionCatalogue } from '../../../../agents/src/shared/agent-info.js';
import { FakeClock } from '../../support/fake-clock.js';
import { answerNext, tool } from '../../support/provider-fixture.js';
import { callsIn, startHost, stateOf, textIn } from '../../support/session-fixture.js';
import { ROOT, settle } from '../../support/test-host.js';
import { TestProvider } from '../../support/test-provider.js';
import { echoTool } from '../../support/tools.js';

const SECTIONS = { tone: 'Be brief.', environment_context: 'cwd=/srv', safety: 'Be safe.' };
const EDIT = { name: 'edit', displayName: 'Edit', invocationMessage: 'Edit a file', pastTenseMessage: 'Edited a file' };

const SCRIPT: Script = {
  provider: 'script',
  displayName: 'Script',
  sections: SECTIONS,
  default: [
    { callTool: { name: 'look', input: {} } },
    { callTool: { name: 'shell', input: {} } },
    { tool: { ...EDIT, output: 'edited', success: true } },
    { showPrompt: true },
  ],
};

interface Level {
  readonly abilities: Omit<AgentAbilities, 'steer' | 'cancelTool'>;
  /** It says what it is about to do. */
  readonly hasIntent: boolean;
  /** What it must own up to. */
  readonly degraded: readonly string[];
}

/** The levels of the four kinds of agents. */
const LEVELS: Readonly<Record<string, Level>> = {
  model: { abilities: { tools: 'live', toolIntent: 'all', render: 'sections' }, hasIntent: true, degraded: [] },
  copilot: { abilities: { tools: 'next-turn', toolIntent: 'all', render: 'sections' }, hasIntent: true, degraded: [] },
  claude: {
    abilities: { tools: 'next-turn', toolIntent: 'all', render: 'append', ownTools: false },
    hasIntent: false,
    degraded: ['transforms:append'],
  },
  acp: {
    abilities: { tools: 'at-open', toolIntent: 'host-run', render: 'preface' },
    hasIntent: false,
    degraded: ['gates:host-run', 'transforms:preface'],
  },
};

/** An agent that does what the script says, as far as its level allows. */
function standIn(provider: string, { abilities, hasIntent }: Level): AgentBackend {
  return {
    info: {
      provider,
      displayName: provider,
      description: '',
      models: [],
      systemMessageSections: sectionCatalogue(Object.keys(SECTIONS)),
    },
    abilities: { steer: false, cancelTool: false, ...abilities },
    sections: SECTIONS,
    open: async () => ({
      async runTurn(turn) {
        if (hasIntent) turn.activity('Looking around');
        await turn.callTool({ name: 'look', input: {} });
        await turn.callTool({ name: 'shell', input: {} });
        await edit(turn, abilities);
        turn.text([...(await turn.renderPrompt()).values()].join('\n\n'));
      },
      close: async () => {},
    }),
  };
}

/** A tool of its own. Below the highest level it does not ask anybody. */
async function edit(turn: AgentTurn, { toolIntent }: Pick<AgentAbilities, 'toolIntent'>): Promise<void> {
  const call = turn.agentRunCall(EDIT);
  if (toolIntent === 'all') {
    const permit = await call.check({}, EDIT.invocationMessage);
    if (permit.kind === 'denied') return;
  } else call.shown({}, EDIT.invocationMessage);
  const content = [{ type: 'text' as const, text: 'edited' }];
  await call.complete({ success: true, pastTenseMessage: EDIT.pastTenseMessage, content });
}

const HELLO = {
  name: 'ci',
  tools: [tool('look')],
  subscribe: ['assistant.intent'],
  context: 'CI is red.',
  hooks: {
    onPreToolUse: [
      { match: { tool: 'look' }, action: 'context', content: 'look twice' },
      { match: { tool: 'shell' }, action: 'deny', reason: 'no shell' },
      { match: { tool: 'edit' }, action: 'deny', reason: 'no edits' },
    ],
    transforms: {
      tone: { action: 'append', content: 'Be kind.' },
      environment_context: { action: 'replace', content: 'cwd=/work' },
    },
  },
};

interface Result {
  readonly degraded: readonly string[];
  readonly intents: readonly unknown[];
  readonly agents: RootState['agents'];
  readonly outcome: Readonly<Record<string, unknown>>;
}

async function scenario(provider: string): Promise<Result> {
  const agents = Object.entries(LEVELS).map(([name, level]) => standIn(name, level));
  const clock = new FakeClock();
  const host = await startHost({ clock, scripts: [SCRIPT], agents, tools: [echoTool('shell')] });
  const client = await host.client('desk');
  const uri = await client.session(undefined, { provider });
  const ci = TestProvider.connect(host);
  const { degraded = [] } = (await ci.hello(HELLO)) as { degraded?: readonly string[] };
  ci.send({ type: 'push', level: 'inject', event: 'CI failed' });
  await answerNext(ci, { data: 'red' });
  await client.action(uri, 'session/turnComplete');
  await settle();
  ci.send({ type: 'push', level: 'surface', event: 'done' });
  await settle();
  await clock.advance(1_000);
  return {
    degraded,
    intents: ci.of('session.event').map(({ data }) => data),
    agents: (await client.state<RootState & Record<string, never>>(ROOT)).agents,
    outcome: outcomeIn(await stateOf(client, uri)),
  };
}

/** Everything that people and agents see of the scenario. */
function outcomeIn({ turns, summary }: SessionState) {
  const [turn] = turns;
  const calls = callsIn(turn?.responseParts).map((call) => [call.toolName, endOf(call)]);
  // What an agent cannot do is noted, too; that is no outcome.
  const notes = (turn?.responseParts ?? [])
    .flatMap((part) => (part.kind === 'systemNotification' ? String(part.content) : []))
    .filter((note) => !note.startsWith('※'));
  return {
    message: turn?.userMessage,
    ...Object.fromEntries(calls),
    notes,
    prompt: textIn(turn?.responseParts),
    news: summary.activity,
  };
}

function endOf(call: ToolCallState): unknown {
  if (call.status === 'cancelled') return { denied: call.reasonMessage };
  return call.status === 'completed' ? { success: call.success, content: call.content } : call.status;
}

/** Which outcomes may differ once this was said. */
const EXCUSES: Readonly<Record<string, readonly string[]>> = { gates: ['edit'], transforms: ['prompt'] };

describe('one scenario', () => {
  it('[UNI-110] goes as planned over a script', async () => {
    const { degraded, outcome } = await scenario('script');
    expect(degraded).toEqual([]);
    expect(outcome).toEqual({
      message: { text: '[ci/ci] CI failed', _meta: { gateway: { provider: 'ci', stream: 'ci' } } },
      look: { success: true, content: [{ type: 'text', text: 'red' }] },
      shell: { denied: 'ci: no shell' },
      edit: { denied: 'ci: no edits' },
      notes: ['ci: look twice'],
      prompt: expect.stringMatching(/Be brief\.\s+Be kind\.\s+cwd=\/work\s+Be safe\.$/),
      news: '※ ci: done',
    });
  });

  it.each(Object.keys(LEVELS))('[UNI-110] ends alike over a stand-in for %s, or it was said', async (name) => {
    const reference = (await scenario('script')).outcome;
    const { degraded, outcome } = await scenario(name);
    expect(degraded).toEqual(LEVELS[name]?.degraded);
    const differing = Object.keys(reference).filter(
      (key) => JSON.stringify(outcome[key]) !== JSON.stringify(reference[key]),
    );
    const excused = degraded.flatMap((fact) => EXCUSES[fact.split(':')[0] ?? ''] ?? []);
    expect(differing.sort()).toEqual(excused.sort());
    // What can be added is added, at whatever level.
    expect(outcome.prompt).toContain('Be kind.');
  });

  it('[UNI-095] [UNI-070] tells intents of agents that have them, and makes none up for the others', async () => {
    for (const [name, { hasIntent }] of Object.entries(LEVELS))
      expect((await scenario(name)).intents).toEqual(hasIntent ? [{ intent: 'Looking around' }] : []);
    expect((await scenario('script')).intents).toEqual([]);
  });

  it('[UNI-098] offers sections to clients only where an agent takes them back', async () => {
    const { agents } = await scenario('script');
    const offering = agents
      .filter(({ systemMessageSections }) => systemMessageSections)
      .map(({ provider }) => provider);
    expect(offering).toEqual(['script', 'model', 'copilot']);
  });
});
