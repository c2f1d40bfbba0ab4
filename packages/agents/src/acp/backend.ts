/** Any agent that speaks the Agent Client Protocol (ACP), behind a command that starts it. */
import type { AgentAbilities, AgentBackend } from '@atrium/core/contracts/agent.js';
import type { HostTool } from '@atrium/core/contracts/tool.js';
import { OWN_DEFAULT_META_KEY } from '@atrium/protocol/ahp-1';
import { SEVERAL_CHATS, SEVERAL_FOLDERS } from '../shared/agent-info.js';

export interface AcpAgentOptions {
  /** The id under which clients choose this agent. */
  readonly provider: string;
  readonly displayName: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the environment of the host. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The folder in which the command starts: the session's folder by default. */
  readonly cwd?: string | undefined;
  readonly description?: string;
  /** The agent's own id of the mode for its sessions. */
  readonly mode?: string;
  /** The agent's own id of a way to log in without a person, such as by a key in `env`. */
  readonly login?: string;
  /** The host's tools through which the agent reads and writes files. Some agents fail with this. */
  readonly fileTools?: FileTools;
}

/** The host's tools for files. */
export interface FileTools {
  readonly read: HostTool;
  readonly write: HostTool;
}

/** Of the agent's own tool calls, the host sees what the agent reports, and decides only when the agent asks. */
const ABILITIES: AgentAbilities = {
  tools: 'at-open',
  toolIntent: 'on-request',
  render: 'preface',
  steer: false,
  cancelTool: false,
  ownTools: true,
  ownProcess: true,
};

export function acpAgent(options: AcpAgentOptions): AgentBackend {
  const { provider, displayName, description = `Runs ${options.command} on this machine.` } = options;
  const offered = new OfferedModels();
  return {
    get info() {
      // The agent itself chooses the model for a message that names none.
      const models = offered.all.map((model) => ({ ...model, provider, _meta: { [OWN_DEFAULT_META_KEY]: true } }));
      // Only a running agent says whether it takes further folders. If it does not, people are told.
      const capabilities = { multipleChats: SEVERAL_CHATS, multipleWorkingDirectories: SEVERAL_FOLDERS };
      return { provider, displayName, description, models, capabilities };
    },
    whenInfoChanges: (changed) => offered.watch(changed),
    abilities: ABILITIES,
    sections: {},
    // Loaded with the first session, so that a host without such agents starts faster.
    open: async (context) => (await import('./session.js')).AcpSession.open({ options, context, offered }),
  };
}

/** The models that the agent offered in its newest session. Agents name their models only in a session. */
export class OfferedModels {
  #models: readonly OfferedModel[] = [];
  readonly #watchers: (() => void)[] = [];

  get all(): readonly OfferedModel[] {
    return this.#models;
  }

  watch(changed: () => void): void {
    this.#watchers.push(changed);
  }

  set(models: readonly OfferedModel[]): void {
    if (JSON.stringify(models) === JSON.stringify(this.#models)) return;
    this.#models = models;
    for (const changed of this.#watchers) changed();
  }
}

export interface OfferedModel {
  readonly id: string;
  readonly name: string;
}
