/**
 * The settings that `atrium/settings` reports: options of `atrium serve`, and keys of the configuration, without
 * secrets.
 */
import type { Config, LoadedConfig } from '@atrium/host';
import { type HostSetting, type SettingSource, settingValueText } from '@atrium/protocol/ahp-1';
import type { Command, Option } from 'commander';

/** Reported only as set or not set. */
const SECRET = new Set(['connectionToken']);
/** Options that act once, and so are not settings. */
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
  // `--no-terminals` makes `terminals` false: the report says whether that option is set.
  const value = option.negate ? given === false || undefined : given;
  const from = source === 'flag' ? option.long : source === 'environment' ? option.envVar : undefined;
  return {
    ...{ key: option.long ?? name, source },
    ...(value !== undefined && { value: SECRET.has(name) ? 'given' : settingValueText(value) }),
    ...(from !== undefined && { from }),
  };
}

/** Every key, in the order of docs/configuration.md, with its default. */
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
/** The values may hold addresses, headers and variables, so the report has only the names. */
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
