/** What discovery looks for, what it needs for that, and its limits. */
import type { ModelAgentOptions } from '@atrium/agents';
import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { ChangeEntry, ConfiguredModels } from '../config/config-schema.js';

export type Environment = Readonly<Record<string, string | undefined>>;

export type AgentSource = 'config' | 'environment' | 'local-server' | 'command' | 'package';

export interface Candidate {
  readonly provider: string;
  readonly displayName: string;
  readonly source: AgentSource;
  /** Whether a person named it. The host waits longer for it, and warns when it is not there. */
  readonly isNamed: boolean;
  look(changes: ChangeEntry): Promise<Look>;
}

/** `why` is a plain sentence for people: what was found, or why not and what to do. */
export type Look =
  | { readonly found: true; readonly why: string; readonly backend: AgentBackend }
  | { readonly found: false; readonly why: string };

export interface AcpOptions {
  readonly provider: string;
  readonly displayName: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly cwd?: string | undefined;
}

export interface SdkOptions {
  readonly provider: string;
  readonly displayName: string;
  readonly models?: ConfiguredModels | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Makes backends. Agents without a factory are reported as not found. */
export interface AgentFactories {
  model?(options: ModelAgentOptions): AgentBackend;
  acp?(options: AcpOptions): AgentBackend;
  copilot?(options: SdkOptions): AgentBackend;
  claude?(options: SdkOptions): AgentBackend;
}

/** The machine, as far as discovery sees it. */
export interface Machine {
  readonly env: Environment;
  readonly factories: AgentFactories;
  /** The full path of a command, without running it. */
  which(command: string): Promise<string | undefined>;
  /** Whether a package can be loaded, without loading it. */
  isInstalled(name: string): Promise<boolean>;
}

export function notFound(why: string): Look {
  return { found: false, why };
}

export const NO_FACTORY = notFound('this host was built without the part that runs it');

/** For a server that the host only guesses. */
export const GUESS_TIMEOUT_MS = 500;
/** For a server that a person named; it may be far away. */
export const NAMED_TIMEOUT_MS = 2_000;
/** Added to these for a whole look, so that the request's own time limit, whose error says more, comes first. */
export const LOOK_SLACK_MS = 100;
/** A list of models; hundreds of them fit. */
export const MODEL_LIST_MAX_BYTES = 1024 * 1024;
/** Models of one server that are offered. All of them travel to every client. */
export const MODELS_MAX = 500;
export const MODEL_ID_MAX_CHARACTERS = 200;
/** Folders of PATH that are searched. */
export const PATH_FOLDERS_MAX = 200;
