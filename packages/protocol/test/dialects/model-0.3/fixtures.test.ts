/**
 * The reducer fixtures of 0.3.0, run through the 1.0 model: the first state goes up, the actions are taken there, and
 * what comes down is what the fixture expects. Times are not compared: 1.0 keeps them elsewhere.
 */
import { describe, expect, it } from 'vitest';
import { reducers } from '../../../src/ahp-1/reducers.js';
import { actionDown, isUntranslatable } from '../../../src/dialects/model-0.3/actions-down.js';
import { changesetDown, rootDown, terminalDown } from '../../../src/dialects/model-0.3/states.js';
import {
  agentUp,
  changesetUp,
  claimUp,
  operationUp,
  rootUp,
  terminalInfoUp,
  terminalUp,
} from '../../../src/dialects/model-0.3/upcast.js';
import type * as Ahp03 from '../../../src/index.js';
import type { Reducer, UnknownAction } from '../../../src/reducing.js';
import {
  deepFreeze,
  type Fixture,
  nullsToUndefined,
  OWN_FIXTURES,
  PUBLISHED_FIXTURES,
  REDUCERS,
  readFixtures,
} from '../../support/fixtures.js';
import { ModelHost } from '../../support/model-host.js';

/** Why a fixture comes down otherwise. Each is a difference between the reducers of the two versions. */
const KEEPS_INPUT = '1.0 keeps the input of a running call that is asked about again';
const TAKES_META = '1.0 takes the metadata of a call from its newest action, 0.3.0 from its first';
const TRUE_ONLY_WHEN_CHANGED = '0.3.0 computes the status anew when an action changes nothing, 1.0 does not';
const DIFFERENT: Readonly<Record<string, string>> = {
  'input-drafts.json': 'its first status is not true; coming down, a session with open questions waits for input',
  'tool-calls-asked-again.json': KEEPS_INPUT,
  'tool-calls-result-released.json': TAKES_META,
  'tool-calls-stale-status.json': TRUE_ONLY_WHEN_CHANGED,
  'tool-calls-without-question.json': TAKES_META,
  'turns-failed-then-late-call.json': TRUE_ONLY_WHEN_CHANGED,
  '026-toolcallready-transitions-running-tool-back-to-pending-confirmation.json': TAKES_META,
  '029-toolcallready-ignores-non-streaming-non-running-tool-calls.json': '1.0 lets a host change a waiting call',
  '070-full-turn-flow-with-tool-calls-and-re-confirmation.json': TAKES_META,
};

function plain(state: unknown): unknown {
  return JSON.parse(JSON.stringify(state), (key, value) =>
    key === 'modifiedAt' || key === 'createdAt' ? 0 : value === null ? undefined : value,
  );
}

interface Outcome {
  readonly shown: unknown;
  readonly mirror: unknown;
}

function throughModel({ reducer, initial, actions }: Fixture): Outcome {
  if (reducer !== 'session') return throughReducer(reducer, initial, actions);
  const host = new ModelHost(initial as Ahp03.SessionState, { forgets: true });
  for (const action of actions) host.apply(action as Ahp03.SessionAction, 9999);
  return { shown: host.shown, mirror: host.mirror };
}

const chatOf = (session: string) => `ahp-chat://default/${session}`;

const UP: Readonly<Record<string, (state: never) => unknown>> = {
  root: (state: Ahp03.RootState) => rootUp(state, chatOf),
  terminal: (state: Ahp03.TerminalState) => terminalUp(state, chatOf),
  changeset: changesetUp,
  resourceWatch: (state) => state,
};
const DOWN: Readonly<Record<string, (state: never) => unknown>> = {
  root: rootDown,
  terminal: terminalDown,
  changeset: changesetDown,
  resourceWatch: (state) => state,
};

function actionUp(action: UnknownAction): UnknownAction {
  const known = action as Ahp03.StateAction;
  if (known.type === 'terminal/claimed') return { ...known, claim: claimUp(known.claim, chatOf) } as UnknownAction;
  if (known.type === 'root/agentsChanged') return { ...known, agents: known.agents.map(agentUp) } as UnknownAction;
  if (known.type === 'root/terminalsChanged') {
    return { ...known, terminals: known.terminals.map((info) => terminalInfoUp(info, chatOf)) } as UnknownAction;
  }
  if (known.type !== 'changeset/operationsChanged') return known;
  return { ...known, operations: known.operations?.map(operationUp) } as UnknownAction;
}

function throughReducer(
  kind: Exclude<Fixture['reducer'], 'session'>,
  initial: object,
  actions: Fixture['actions'],
): Outcome {
  const reduce = reducers[kind] as Reducer<unknown, UnknownAction>;
  const older = REDUCERS[kind] as Reducer<unknown, UnknownAction>;
  let state = deepFreeze(UP[kind]?.(initial as never));
  let mirror = DOWN[kind]?.(state as never);
  for (const action of actions.map(actionUp)) {
    state = deepFreeze(reduce(state, deepFreeze(action), { now: 9999 }));
    const down = actionDown(action);
    if (down && !isUntranslatable(down)) mirror = older(mirror, down, { now: 9999 });
  }
  return { shown: DOWN[kind]?.(state as never), mirror };
}

const fixtures = [...readFixtures(OWN_FIXTURES), ...readFixtures(PUBLISHED_FIXTURES)];

describe('a fixture of the older reducers, through the 1.0 model', () => {
  it.each(fixtures.map((fixture) => [fixture.file, nullsToUndefined(fixture)] as const))('%s', (file, fixture) => {
    const { shown, mirror } = throughModel(fixture);
    const both = [plain(shown), plain(mirror)];
    const expected = [plain(fixture.expected), plain(fixture.expected)];
    if (DIFFERENT[file]) expect(both, DIFFERENT[file]).not.toEqual(expected);
    else expect(both).toEqual(expected);
  });
});
