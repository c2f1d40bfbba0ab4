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
  /** Whether a person named it. If so, the host waits longer for it, and warns when it is missing. */
  readonly isNamed: boolean;
  probe(changes: ChangeEntry): Promise<Probe>;
}

/** `why` is a plain sentence for people: what was found, or why nothing was and what to do. */
export type Probe =
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

/** Creates backends. Agents without a factory are reported as not found. */
export interface AgentFactories {
  model?(options: ModelAgentOptions): AgentBackend;
  acp?(options: AcpOptions): AgentBackend;
  copilot?(options: SdkOptions): AgentBackend;
  claude?(options: SdkOptions): AgentBackend;
}

/** The machine, as discovery sees it. */
export interface Machine {
  readonly env: Environment;
  readonly factories: AgentFactories;
  /** The full path of a command, found without running it. */
  which(command: string): Promise<string | undefined>;
  /** Whether a package can be loaded, found without loading it. */
  isInstalled(name: string): Promise<boolean>;
}

export function notFound(why: string): Probe {
  return { found: false, why };
}

export const NO_FACTORY = notFound('this host was built without the part that runs it');

/** For a server whose existence the host only guesses. */
export const GUESS_TIMEOUT_MS = 500;
/** For a server that a person named, which may be far away. */
export const NAMED_TIMEOUT_MS = 2_000;
/** Added to these for a whole look, so that the request's own time limit fires first, because its error says more. */
export const PROBE_SLACK_MS = 100;
/** The size of a model list; hundreds of models fit. */
export const MODEL_LIST_MAX_BYTES = 1024 * 1024;
/** How many models of one server are offered, because all of them are sent to every client. */
export const MODELS_MAX = 500;
export const MODEL_ID_MAX_CHARACTERS = 200;
/** How many folders of PATH are searched. */
export const PATH_FOLDERS_MAX = 200;
