/** Several hosts on one engine, for programs that embed them. A host that runs alone loads none of it. */
export type { HostTerm } from '@atrium/core/log/shared-log.js';
export {
  ClusterError,
  checkedMeta,
  ENGINE_VERSION_MIN,
  engineVersion,
  initCluster,
} from '../log-postgres/administer.js';
export { Engine } from '../log-postgres/engine.js';
export { DEFAULT_SCHEMA, type EngineUrl, EngineUrlError, engineUrl } from '../log-postgres/engine-url.js';
export {
  openPostgresLog,
  type PostgresLog,
  type PostgresLogOptions,
} from '../log-postgres/postgres-log.js';
export { checkAdmission } from './admission.js';
export {
  type ActiveHost,
  type ActivePlace,
  ClusterNode,
  type ClusterNodeOptions,
  type NodeState,
} from './cluster-node.js';
export { clusterView } from './cluster-view.js';
export { clusterDeviceKeys } from './device-keys.js';
export { Edge, type EdgeOptions, startEdge } from './edge.js';
export { folderPlaces } from './folder-places.js';
export { type Imported, importContents, importLog } from './import-log.js';
export { DRAIN_MS } from './limits.js';
export {
  type ActiveLink,
  askLink,
  DEFAULT_LINK_PORT,
  type LinkAnswer,
  linkAddress,
  listenForLinks,
} from './link.js';
export { localTextIndex, lockDataFolder } from './local-folder.js';
export { askToDrain, type ClusterStatus, clusterStatus, type EngineStatus, type HostStatus } from './status.js';
export { addVolume, checkVolumes, listVolumes, type Volume, volumeState } from './volumes.js';
export { reachLent, workLinks } from './work-links.js';
export { WorkServer } from './work-server.js';
export { type Worker, WorkingHosts, type WorkingHostsOptions } from './working-hosts.js';
