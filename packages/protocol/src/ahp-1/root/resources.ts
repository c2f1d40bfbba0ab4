/**
 * Commands on files and other content: those of the older model, with the `_meta` of requests. Either side may send
 * them.
 */
import type { Static } from 'typebox';
import { CreateResourceWatchParams as WatchParams } from '../../resource-watch/commands.js';
import * as older from '../../root/resources.js';
import { withRequestMeta } from '../common/types.js';

export { CreateResourceWatchResult } from '../../resource-watch/commands.js';
export {
  ContentEncoding,
  DirectoryEntry,
  ResourceCopyResult,
  ResourceDeleteResult,
  ResourceListResult,
  ResourceMkdirResult,
  ResourceMoveResult,
  ResourceReadResult,
  ResourceRequestResult,
  ResourceResolveResult,
  ResourceType,
  ResourceWriteMode,
  ResourceWriteResult,
} from '../../root/resources.js';

export const ResourceReadParams = withRequestMeta(older.ResourceReadParams);
export type ResourceReadParams = Static<typeof ResourceReadParams>;

export const ResourceWriteParams = withRequestMeta(older.ResourceWriteParams);
export type ResourceWriteParams = Static<typeof ResourceWriteParams>;

export const ResourceListParams = withRequestMeta(older.ResourceListParams);
export type ResourceListParams = Static<typeof ResourceListParams>;

export const ResourceCopyParams = withRequestMeta(older.ResourceCopyParams);
export type ResourceCopyParams = Static<typeof ResourceCopyParams>;

export const ResourceDeleteParams = withRequestMeta(older.ResourceDeleteParams);
export type ResourceDeleteParams = Static<typeof ResourceDeleteParams>;

export const ResourceMoveParams = withRequestMeta(older.ResourceMoveParams);
export type ResourceMoveParams = Static<typeof ResourceMoveParams>;

export const ResourceResolveParams = withRequestMeta(older.ResourceResolveParams);
export type ResourceResolveParams = Static<typeof ResourceResolveParams>;

export const ResourceMkdirParams = withRequestMeta(older.ResourceMkdirParams);
export type ResourceMkdirParams = Static<typeof ResourceMkdirParams>;

export const ResourceRequestParams = withRequestMeta(older.ResourceRequestParams);
export type ResourceRequestParams = Static<typeof ResourceRequestParams>;

export const CreateResourceWatchParams = withRequestMeta(WatchParams);
export type CreateResourceWatchParams = Static<typeof CreateResourceWatchParams>;
