/** The four ways in which plugins are written, and where each of them keeps its parts. */

export type Dialect = 'open-plugins' | 'agent-plugins' | 'claude' | 'copilot';

/** The files and folders that are looked at without being named in the manifest. */
export interface Layout {
  readonly commands: readonly string[];
  readonly agents: readonly string[];
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
  readonly rules: readonly string[];
  readonly hooks: readonly string[];
  readonly mcpServers: readonly string[];
}

const OPEN_PLUGINS: Layout = {
  commands: ['commands'],
  agents: ['agents'],
  skills: ['skills'],
  prompts: ['prompts'],
  rules: ['rules'],
  hooks: ['hooks/hooks.json'],
  mcpServers: ['.mcp.json'],
};

/** Claude and Copilot know no rules in plugins; a manifest may still name some. */
export const LAYOUTS: Readonly<Record<Dialect, Layout>> = {
  'open-plugins': OPEN_PLUGINS,
  claude: { ...OPEN_PLUGINS, rules: [] },
  copilot: { ...OPEN_PLUGINS, rules: [], hooks: ['hooks.json'] },
  'agent-plugins': {
    commands: [],
    agents: [],
    skills: ['skills'],
    prompts: [],
    rules: [],
    hooks: [],
    mcpServers: ['mcp.json'],
  },
};

/** Agent Plugins is the strict one: what does not conform is refused instead of repaired. */
export function isStrict(dialect: Dialect): boolean {
  return dialect === 'agent-plugins';
}
