/**
 * Holds the living types against the frozen ones. When a line here does not compile, the message it names changed in
 * a way that an older peer would notice: make the new member optional, or cut a new version.
 */
import type { ActionMap } from '../actions.js';
import type { ChangesetState } from '../changeset/state.js';
import type { ErrorDataMap } from '../errors/data.js';
import type { ClientNotifications, ClientRequests, HostNotifications, HostRequests } from '../methods.js';
import type { ResourceWatchState } from '../resource-watch/state.js';
import type { RootState } from '../root/state.js';
import type { SessionState } from '../session/state.js';
import type { TerminalState } from '../terminal/state.js';
import type { AssertNone, Broken } from './compatible.js';
import type { V0_2 } from './v0_2.js';
import type { V0_3 } from './v0_3.js';

interface States {
  root: RootState;
  session: SessionState;
  terminal: TerminalState;
  changeset: ChangesetState;
  resourceWatch: ResourceWatchState;
}

export type CompatibleWithV0_2 = [
  AssertNone<Broken<V0_2['states'], States>>,
  AssertNone<Broken<V0_2['actions'], ActionMap>>,
  AssertNone<Broken<V0_2['clientRequests'], ClientRequests>>,
  AssertNone<Broken<V0_2['hostRequests'], HostRequests>>,
  AssertNone<Broken<V0_2['clientNotifications'], ClientNotifications>>,
  AssertNone<Broken<V0_2['hostNotifications'], HostNotifications>>,
  AssertNone<Broken<V0_2['errorData'], ErrorDataMap>>,
];

export type CompatibleWithV0_3 = [
  AssertNone<Broken<V0_3['states'], States>>,
  AssertNone<Broken<V0_3['actions'], ActionMap>>,
  AssertNone<Broken<V0_3['clientRequests'], ClientRequests>>,
  AssertNone<Broken<V0_3['hostRequests'], HostRequests>>,
];

/** The methods whose params lack the `channel` that everything is routed by. */
type Unrouted<Calls> = {
  [Method in keyof Calls]: Calls[Method] extends { params: { channel: string } } | { channel: string } ? never : Method;
}[keyof Calls];

export type EveryMethodHasAChannel = [
  AssertNone<Unrouted<ClientRequests>>,
  AssertNone<Unrouted<HostRequests>>,
  AssertNone<Unrouted<ClientNotifications>>,
  AssertNone<Unrouted<HostNotifications>>,
];
