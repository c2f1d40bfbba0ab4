/** Any agent that speaks the Agent Client Protocol, behind a command that starts it. */
import type { AgentAbilities, AgentBackend } from '../../core/contracts/agent.js';
import { OfferedModels } from './offered-models.js';

export interface AcpAgentOptions {
  /** The id under which clients choose this agent. */
  readonly provider: string;
  readonly displayName: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Beside what the host itself was started with. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Where the command starts; in the session's folder by default. */
  readonly cwd?: string | undefined;
  readonly description?: string;
  /** The mode that its sessions work in, by the agent's own id for it. */
  readonly mode?: string;
  /** A way to log in that needs nobody, such as a key in `env`, by the agent's own id for it. */
  readonly login?: string;
  /** Lets it read and write files by way of the host. Some agents fail with this, so it is off by default. */
  readonly files?: boolean;
}

/** Its own tools are its own business: the host sees what it tells, and decides where it asks. */
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
      return { provider, displayName, description, models: offered.all.map((model) => ({ ...model, provider })) };
    },
    whenInfoChanges: (changed) => offered.watch(changed),
    abilities: ABILITIES,
    sections: {},
    // Loaded with the first session: a host starts without what it may never need.
    open: async (context) => (await import('./session.js')).AcpSession.open({ options, context, offered }),
  };
}
