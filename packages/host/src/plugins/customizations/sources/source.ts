/** Where customizations come from: each plugin, watched directory and configured MCP server, before it is read. */
import { createHash } from 'node:crypto';
import type { ChildCustomizationType, Icon, TextRange } from '@atrium/protocol';
import type { PluginFiles } from '../parse/files.js';
import type { McpServerConfig } from '../parse/mcp-config.js';

/** Who put it there. That decides whether it may start programs. */
export type Scope = 'project' | 'user' | 'agent' | 'client';

/** Called for each reading. */
export type OpenFiles = () => PluginFiles | Promise<PluginFiles>;

interface SourceBase {
  /** Of its entry in the session. */
  readonly id: string;
  readonly uri: string;
  readonly name: string;
  readonly icons?: Icon[] | undefined;
  readonly scope: Scope;
  /** It lies in the session's folder, although an agent named it: what is in there is the folder's own. */
  readonly isOfFolder?: boolean;
}

export interface PluginSource extends SourceBase {
  readonly kind: 'plugin';
  readonly files: OpenFiles;
  /** On this machine; absent for what only a client can read. */
  readonly folder?: string | undefined;
  readonly clientId?: string;
  /** Whether it is on when it first appears. */
  readonly isOn?: boolean;
}

export interface DirectorySource extends SourceBase {
  readonly kind: 'directory';
  readonly files: OpenFiles;
  readonly folder: string;
  readonly contents: ChildCustomizationType;
  readonly writable: boolean;
  /** What is written must stay below this folder, wherever links lead. */
  readonly base: string;
}

export interface ServerSource extends SourceBase {
  readonly kind: 'mcpServer';
  readonly range: TextRange;
  readonly config: McpServerConfig;
  readonly declared: McpServerConfig;
}

export type ContainerSource = PluginSource | DirectorySource;
export type AnySource = ContainerSource | ServerSource;

/** The ids that the host makes begin with this: entries of an earlier life are known by it. */
export const HOST_ID_PREFIX = 'host:';

const HASH_CHARACTERS = 16;

/** The same source has the same id each time, so that what people switched off stays off. */
export function hostId(kind: AnySource['kind'], uri: string, name = ''): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([uri, name]))
    .digest('hex');
  return `${HOST_ID_PREFIX}${kind}:${hash.slice(0, HASH_CHARACTERS)}`;
}
