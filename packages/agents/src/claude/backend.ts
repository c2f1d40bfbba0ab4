/** Claude Code as an agent, run by Anthropic's SDK. It has its own tools, and asks the host before each call. */

import type { AgentBackend } from '@atrium/core/contracts/agent.js';
import type { AgentInfo } from '@atrium/protocol/ahp-1';
import { type ModelInfo, publishedModel, SEVERAL_CHATS, SEVERAL_FOLDERS } from '../shared/agent-info.js';

export interface ClaudeAgentOptions {
  /** The id under which clients choose this agent. */
  readonly provider?: string;
  readonly displayName?: string;
  /** The first one is the default. Without models, Claude's names for its newest ones are offered. */
  readonly models?: readonly ModelInfo[];
  /** Where Claude keeps its login and its conversations; absent: its usual place. */
  readonly configDir?: string;
  /** Added to the host's environment for Claude; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Claude's own tools that it may use. */
  readonly tools?: readonly string[];
}

/** Claude's tools that need no terminal and end with the turn. */
const TOOLS = [
  'Agent',
  'AskUserQuestion',
  'Bash',
  'Edit',
  'Glob',
  'Grep',
  'NotebookEdit',
  'Read',
  'TodoWrite',
  'WebFetch',
  'WebSearch',
  'Write',
] as const;

const MODELS: readonly ModelInfo[] = [
  { id: 'sonnet', name: 'Claude Sonnet' },
  { id: 'opus', name: 'Claude Opus' },
  { id: 'haiku', name: 'Claude Haiku' },
];

/** The options, with defaults filled in. */
export type ClaudeSettings = Required<Omit<ClaudeAgentOptions, 'configDir'>> & Pick<ClaudeAgentOptions, 'configDir'>;

export function claudeAgent(options: ClaudeAgentOptions = {}): AgentBackend {
  const settings = settingsOf(options);
  return {
    info: infoOf(settings),
    abilities: {
      tools: 'next-turn',
      toolIntent: 'all',
      render: 'append',
      steer: true,
      cancelTool: false,
      ownTools: true,
      compacts: true,
    },
    sections: {},
    ownToolNames: () => settings.tools,
    // Loaded with the first session, so that a host without Claude starts faster.
    async open(context) {
      const [{ loadClaudeSdk }, { ClaudeSession }] = await Promise.all([import('./sdk.js'), import('./session.js')]);
      return new ClaudeSession(await loadClaudeSdk(), settings, context);
    },
  };
}

function settingsOf(options: ClaudeAgentOptions): ClaudeSettings {
  const { provider = 'claude', displayName = 'Claude', models = MODELS, env = {}, tools = TOOLS, configDir } = options;
  return { provider, displayName, models, env, tools, ...(configDir !== undefined && { configDir }) };
}

function infoOf({ provider, displayName, models }: ClaudeSettings): AgentInfo {
  return {
    provider,
    displayName,
    description: 'Claude Code, with tools of its own, those of the host and those of the active client.',
    models: models.map((model) => publishedModel(provider, { supportsVision: true, ...model })),
    capabilities: { multipleChats: SEVERAL_CHATS, multipleWorkingDirectories: SEVERAL_FOLDERS },
  };
}
