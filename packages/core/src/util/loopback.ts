/** Whether an address never leaves this machine. */
import { isIPv4 } from 'node:net';

/** A name is not looked up: only `localhost` is known to stay here. */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[|\]$/g, '');
  if (address === 'localhost' || address === '::1') return true;
  const v4 = address.replace(/^::ffff:/, '');
  return isIPv4(v4) && v4.startsWith('127.');
}
