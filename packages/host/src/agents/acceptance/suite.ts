/** What the parts of the suite share: the runner's functions, and rooms to test in. */
import type { Extension } from '../../core/contracts/extension.js';
import type { ContractApi } from '../../core/log/contract.js';
import type { PlannedAnswer, PlannedFailure } from './plan.js';
import { Room } from './room.js';
import type { AcceptanceOptions, MakeAgent, Showing } from './subject.js';

/** The part of vitest, or of a runner like it, that the suite needs. */
export interface AcceptanceApi extends ContractApi {
  it(name: string, body: () => Promise<void>, timeoutMs?: number): void;
}

export interface Suite {
  readonly expect: AcceptanceApi['expect'];
  /** Whether the backend can show this; tests are registered only where it can. */
  shows(what: Showing): boolean;
  tells(failure: PlannedFailure): boolean;
  /** A test with a host around the agent, which is gone afterwards. */
  test(name: string, plan: readonly PlannedAnswer[], body: TestBody, extras?: RoomExtras): void;
}

export type TestBody = (room: Room) => Promise<void>;
/** What else the session of a test is extended by, beside the tool for notes. */
export type RoomExtras = Pick<Extension, 'gates' | 'prompt' | 'beforeTurn'>;

/** How long one thing may keep a test waiting, before it is stretched. */
const WAIT_MAX_MS = 5_000;
/** A test waits for several things, one after the other. */
const WAITS_PER_TEST = 4;

export function suiteOf({ it, expect }: AcceptanceApi, make: MakeAgent, options: AcceptanceOptions): Suite {
  const { without = [], tells, timeScale = 1 } = options;
  const waitMaxMs = WAIT_MAX_MS * timeScale;
  return {
    expect,
    shows: (what) => !without.includes(what),
    tells: (failure) => tells?.includes(failure) ?? true,
    test: (name, plan, body, extras = {}) => {
      const inRoom = async () => {
        const room = await Room.open(await make(plan), { extras, waitMaxMs });
        await body(room).finally(() => room.close());
      };
      it(name, inRoom, waitMaxMs * WAITS_PER_TEST);
    },
  };
}
