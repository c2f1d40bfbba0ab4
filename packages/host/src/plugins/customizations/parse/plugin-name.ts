/** Names of plugins: small letters, digits, single hyphens and dots. */
import { NAME_MAX_CHARACTERS } from './limits.js';

export function isPluginName(name: string): boolean {
  return name.length <= NAME_MAX_CHARACTERS && /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/.test(name) && !/--|\.\./.test(name);
}

/** The nearest good name. */
export function pluginNameFrom(text: string): string {
  const name = text
    .toLowerCase()
    .replace(/[^a-z0-9.]+/g, '-')
    .replace(/\.{2,}/g, '.')
    .replace(/^[.-]+/, '')
    .slice(0, NAME_MAX_CHARACTERS);
  return withoutEnd(name) || 'plugin';
}

/** Not one expression: looking for the end of a long run of hyphens again and again takes a long time. */
function withoutEnd(name: string): string {
  let end = name.length;
  while (end > 0 && /[.-]/.test(name[end - 1] ?? '')) end -= 1;
  return name.slice(0, end);
}
