/** What an operation wants to be looked at afterwards: a file of the host is opened, an address of the web is offered. */
import type { ChangesetOperationFollowUp } from '@atrium/protocol';
import { showFile } from '../files/shown-file.js';

const WEB = /^https?:\/\//i;

/** Gives the address that a person may open: pages are not opened without being asked for. */
export function followUpLink(session: string, followUp: ChangesetOperationFollowUp | undefined): string | undefined {
  const uri = followUp?.content.uri ?? '';
  if (WEB.test(uri)) return uri;
  if (uri.startsWith('file:')) showFile({ session, uri });
  return undefined;
}

export function FollowUp({ link }: { readonly link: string | undefined }) {
  if (link === undefined) return null;
  return (
    <p className="changes-note" role="status">
      To go on:{' '}
      <a href={link} target="_blank" rel="noopener noreferrer">
        {link}
      </a>
    </p>
  );
}
