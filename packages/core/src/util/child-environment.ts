/** The environment of every process that the host starts for others. */

/** The host's own settings begin like this. The token that opens it, and the keys of its models, are among them. */
const HOST_SETTINGS = 'ATRIUM_';

export type Environment = Readonly<Record<string, string | undefined>>;

/** All that the host was started with, except what is the host's alone. */
export function childEnvironment(host: Environment = process.env): Record<string, string> {
  const open = Object.entries(host).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !entry[0].toUpperCase().startsWith(HOST_SETTINGS),
  );
  return Object.fromEntries(open);
}
