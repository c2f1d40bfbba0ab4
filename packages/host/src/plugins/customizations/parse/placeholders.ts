/** Puts real values in the place of `${PLUGIN_ROOT}` and its kind. */

/** What a container's declarations may refer to. */
export interface Surroundings {
  /** The plugin's folder on this machine; absent for what does not come from a plugin. */
  readonly pluginRoot?: string;
  /** A folder that the host keeps for the plugin. */
  readonly pluginData?: string;
  /** The variables that declarations may ask for by name. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

/** For reading a declaration as it is written: variables stay as they are, wherever the plugin lies. */
export function withoutMachine({ platform }: Surroundings): Surroundings {
  return { env: {}, platform };
}

/** A value for the name between the braces; undefined leaves the text as it is. */
export type Lookup = (name: string) => string | undefined;

/** One pass: what has been put in is not looked at again. */
export function expand(text: string, lookup: Lookup): string {
  return text.replace(/\$\{(\w+)\}/g, (whole, name: string) => lookup(name) ?? whole);
}

/** The names that the host itself gives values to. Claude's names are for plugins written for it. */
export function pluginLookup({ pluginRoot, pluginData }: Surroundings, isStrict: boolean): Lookup {
  const values = new Map([
    ['PLUGIN_ROOT', pluginRoot],
    ['PLUGIN_DATA', pluginData],
  ]);
  if (!isStrict) values.set('CLAUDE_PLUGIN_ROOT', pluginRoot).set('CLAUDE_PLUGIN_DATA', pluginData);
  return (name) => values.get(name);
}

/** The same, and outside of the strict dialect also variables of the environment in capital letters. */
export function fullLookup(surroundings: Surroundings, isStrict: boolean): Lookup {
  const own = pluginLookup(surroundings, isStrict);
  if (isStrict) return own;
  return (name) => own(name) ?? variable(surroundings.env, name);
}

function variable(env: Surroundings['env'], name: string): string | undefined {
  return /^[A-Z_][A-Z0-9_]*$/.test(name) && Object.hasOwn(env, name) ? env[name] : undefined;
}

/** The variables that no declaration may set to something else. */
export function reservedVariables({ pluginRoot, pluginData }: Surroundings): Record<string, string> {
  return {
    ...(pluginRoot === undefined ? {} : { PLUGIN_ROOT: pluginRoot, CLAUDE_PLUGIN_ROOT: pluginRoot }),
    ...(pluginData === undefined ? {} : { PLUGIN_DATA: pluginData, CLAUDE_PLUGIN_DATA: pluginData }),
  };
}
