/** Says, before anybody sends or scans a link, that it does not work on another machine. */
const ONLY_HERE = /^https?:\/\/(localhost|127\.|\[::1\])/;

export function isOnlyHere(address: string): boolean {
  return ONLY_HERE.test(address);
}

export function OnlyHere({ address }: { readonly address: string }) {
  if (!isOnlyHere(address)) return null;
  return (
    <p className="only-here">
      This address works on this machine only. For others, make the host reachable first: <code>atrium reach</code>, or{' '}
      <code>atrium serve</code> with <code>--host</code> and <code>--tls-cert</code>.
    </p>
  );
}
