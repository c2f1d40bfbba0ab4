/** Claims: who holds a terminal, and how a page that reloads hands its terminals over. */
import type { TerminalClaim } from '@atrium/protocol/ahp-1';
import { useEffect } from 'react';
import { useHost } from '../host/context.js';
import type { OpenSession } from '../host/open-session.js';

export function isMine(claim: TerminalClaim, clientId: string): boolean {
  return claim.kind === 'client' && claim.clientId === clientId;
}

/** Of the session, where everybody can take it. */
export function sessionClaim({ uri, chatUri }: Pick<OpenSession, 'uri' | 'chatUri'>): TerminalClaim {
  return { kind: 'session', session: uri, chat: chatUri };
}

/** A tool is using it right now. */
export function isOfCall(claim: TerminalClaim): boolean {
  return claim.kind === 'session' && claim.toolCallId !== undefined;
}

export function ownerWords(claim: TerminalClaim, clientId: string, session: string): string {
  if (claim.kind === 'client') return isMine(claim, clientId) ? 'yours' : 'opened on another device';
  const whose = claim.session === session ? 'this session' : 'another session';
  return isOfCall(claim) ? `${whose} uses it for a command` : `of ${whose}`;
}

const KEY = 'atrium.terminals';

/**
 * A page that is loaded again is another client to the host, and may be there before the host has seen the first one go.
 * So a page that goes leaves its terminals to the session, where every device can take them, and takes them again if it
 * comes back.
 */
export function useHandOver(session: OpenSession): void {
  const { client, link } = useHost();
  useEffect(() => {
    const leave = () => {
      const mine = (link.root.get().terminals ?? []).filter(({ claim }) => isMine(claim, client.clientId));
      if (mine.length > 0) sessionStorage.setItem(KEY, mine.map(({ resource }) => resource).join('\n'));
      const claim = sessionClaim(session);
      for (const { resource } of mine) client.dispatch(resource, { type: 'terminal/claimed', claim }).catch(() => {});
    };
    addEventListener('pagehide', leave);
    return () => removeEventListener('pagehide', leave);
  }, [client, link, session]);
}

/** Whether this tab had the terminal before it was loaded again. True once: a terminal given away later stays away. */
export function wasMine(uri: string): boolean {
  const known = (sessionStorage.getItem(KEY) ?? '').split('\n');
  if (!known.includes(uri)) return false;
  sessionStorage.setItem(KEY, known.filter((other) => other !== uri).join('\n'));
  return true;
}
