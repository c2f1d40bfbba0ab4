/** `atrium/settings`: the host's settings, and where each value came from. An extension; it cannot change anything. */

export const SETTINGS_METHOD = 'atrium/settings';
/** Further settings are not listed. */
export const HOST_SETTINGS_MAX = 200;
/** Longest value, as text. */
export const SETTING_VALUE_MAX_CHARACTERS = 300;

export const SETTING_SOURCES = ['default', 'file', 'environment', 'flag'] as const;
export type SettingSource = (typeof SETTING_SOURCES)[number];

export interface HostSetting {
  /** The key in the configuration file, or the option of `atrium serve`. */
  readonly key: string;
  /** The value for people; never a secret. Absent when nothing is set. */
  readonly value?: string;
  readonly source: SettingSource;
  /** The file, the variable or the option that set it. */
  readonly from?: string;
}

export interface HostSettings {
  readonly items: readonly HostSetting[];
}

/** Reads a host's answer, as far as it is valid. */
export function readHostSettings(answer: unknown): readonly HostSetting[] {
  const items = typeof answer === 'object' && answer !== null && 'items' in answer ? answer.items : [];
  return Array.isArray(items) ? items.filter(isSetting).slice(0, HOST_SETTINGS_MAX) : [];
}

function isSetting(item: unknown): item is HostSetting {
  if (typeof item !== 'object' || item === null) return false;
  const { key, value, source, from } = item as Partial<Record<keyof HostSetting, unknown>>;
  const isText = (text: unknown) => text === undefined || typeof text === 'string';
  return typeof key === 'string' && isText(value) && isText(from) && SETTING_SOURCES.some((each) => each === source);
}

export function settingValueText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > SETTING_VALUE_MAX_CHARACTERS ? `${text.slice(0, SETTING_VALUE_MAX_CHARACTERS - 1)}…` : text;
}
