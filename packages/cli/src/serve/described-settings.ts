/** What `atrium/settings` tells of a host: options of `atrium serve`, and the keys of the configuration. No secret is among them. */
import type { Config, LoadedConfig } from '@atrium/host';
import { type HostSetting, type SettingSource, settingValueText } from '@atrium/protocol/ahp-1';
import type { Command, Option } from 'commander';

/** That one is given is told, and not which. */
const SECRET = new Set(['connectionToken']);
/** They do something once, and are no setting. */
const ACTIONS = new Set(['detach', 'rotateToken']);
const SOURCES: Readonly<Record<string, SettingSource>> = { cli: 'flag', env: 'environment' };

export function describedOptions(command: Command): readonly HostSetting[] {
  return command.options
    .filter((option) => !ACTIONS.has(option.attributeName()))
    .map((option) => described(command, option));
}

function described(command: Command, option: Option): HostSetting {
  const name = option.attributeName();
  const source = SOURCES[command.getOptionValueSource(name) ?? ''] ?? 'default';
  const given: unknown = command.getOptionValue(name);
  // `--no-terminals` makes `terminals` false: told is whether that option counts.
  const value = option.negate ? given === false || undefined : given;
  const from = source === 'flag' ? option.long : source === 'environment' ? option.envVar : undefined;
  return {
    ...{ key: option.long ?? name, source },
    ...(value !== undefined && { value: SECRET.has(name) ? 'given' : settingValueText(value) }),
    ...(from !== undefined && { from }),
  };
}

/** Every key that there is, in the order of the page about them, with what counts without a file. */
const DEFAULTS: Readonly<Record<Exclude<keyof Config, '$schema'>, unknown>> = {
  agents: undefined,
  permissions: undefined,
  defaultAgent: undefined,
  discovery: undefined,
  mcpServers: undefined,
  providers: undefined,
  plugins: undefined,
  automationRunsAtOnce: 4,
  joinText: true,
  budgets: undefined,
  prices: undefined,
  flatPlans: undefined,
  titles: true,
  systemMessageSections: true,
  updateNotice: false,
  toolOutputMaxCharacters: 32_000,
};
/** They may hold addresses, headers and variables: only their names are told. */
const NAMES_ONLY = new Set(['agents', 'mcpServers', 'providers', 'prices']);

export function describedConfig({ config, origins }: Pick<LoadedConfig, 'config' | 'origins'>): readonly HostSetting[] {
  const values: Readonly<Record<string, unknown>> = { ...config };
  return Object.entries(DEFAULTS).map(([key, usual]) => {
    const files = origins[key] ?? [];
    const value = files.length === 0 ? usual : values[key];
    const shown = NAMES_ONLY.has(key) && value ? Object.keys(value).join(', ') : value;
    return {
      ...{ key, source: files.length === 0 ? ('default' as const) : ('file' as const) },
      ...(shown !== undefined && { value: settingValueText(shown) }),
      ...(files.length > 0 && { from: files.join(', ') }),
    };
  });
}
