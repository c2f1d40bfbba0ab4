/**
 * The page of a forge on which people make a pull request by hand, derived from the URL of a remote without its
 * credentials.
 */

interface Place {
  readonly host: string;
  /** Without a slash at either end, and without `.git`. */
  readonly path: string;
}

/**
 * Parses `https://user:secret@host/o/r.git`, `ssh://git@host:22/o/r` and `git@host:o/r.git`; undefined for anything
 * else.
 */
export function placeOf(remote: string): Place | undefined {
  const scp = /^(?:[^@\s/:]+@)?([a-z\d.-]+):(?!\/\/)([^\s]+)$/i.exec(remote);
  if (scp && !/^[a-z]$/i.test(scp[1] ?? '')) return placed(scp[1] ?? '', scp[2] ?? '');
  try {
    const { protocol, hostname, port, pathname } = new URL(remote);
    if (!['https:', 'http:', 'ssh:', 'git+ssh:'].includes(protocol)) return undefined;
    const isWeb = protocol.startsWith('http');
    return placed(isWeb && port !== '' ? `${hostname}:${port}` : hostname, decodeURIComponent(pathname));
  } catch {
    return undefined;
  }
}

function placed(host: string, path: string): Place | undefined {
  const plain = path.replace(/^\/+|\/+$/g, '').replace(/\.git$/, '');
  return host === '' || !plain.includes('/') ? undefined : { host: host.toLowerCase(), path: plain };
}

export type Forge = 'github' | 'gitlab' | 'bitbucket' | 'gitea' | 'azure';

export function forgeOf({ host }: Place): Forge | undefined {
  if (host === 'dev.azure.com' || host === 'ssh.dev.azure.com' || host.endsWith('.visualstudio.com')) return 'azure';
  if (/(^|[.-])github([.-]|$)/.test(host)) return 'github';
  if (/(^|[.-])gitlab([.-]|$)/.test(host)) return 'gitlab';
  if (/(^|[.-])bitbucket([.-]|$)/.test(host)) return 'bitbucket';
  return /(^|[.-])(codeberg|gitea|forgejo)([.-]|$)/.test(host) ? 'gitea' : undefined;
}

/** The page that compares two branches and turns them into a pull request. */
export function compareLink(remote: string, base: string, head: string): string | undefined {
  const place = placeOf(remote);
  const forge = place && forgeOf(place);
  if (!place || !forge) return undefined;
  const site = `https://${place.host}/${place.path.split('/').map(encodeURIComponent).join('/')}`;
  const [from, to] = [encodeURIComponent(base), encodeURIComponent(head)];
  switch (forge) {
    case 'github':
      return `${site}/compare/${from}...${to}?expand=1`;
    case 'gitea':
      return `${site}/compare/${from}...${to}`;
    case 'gitlab': {
      const names = `merge_request%5Bsource_branch%5D=${to}&merge_request%5Btarget_branch%5D=${from}`;
      return `${site}/-/merge_requests/new?${names}`;
    }
    case 'bitbucket':
      return `${site}/pull-requests/new?source=${to}&dest=${from}`;
    case 'azure':
      return `${azureSite(place)}/pullrequestcreate?sourceRef=${to}&targetRef=${from}`;
  }
}

/** For ssh, Azure uses another host, and paths without `_git`. */
function azureSite({ host, path }: Place): string {
  const parts = path.split('/').map((part) => encodeURIComponent(decoded(part)));
  if (host !== 'ssh.dev.azure.com') return `https://${host}/${parts.join('/')}`;
  const [, organization, project, repository] = parts;
  return `https://dev.azure.com/${organization}/${project}/_git/${repository}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
