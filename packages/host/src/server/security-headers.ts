/** Headers that every answer of the port carries, and what a browser may do with it. */
import { isIP } from 'node:net';
import { isLoopback } from '@atrium/core/util/addresses.js';
import type { RequestSource } from './forwarded.js';

/** Half a year: long enough to matter, short enough to get rid of. The name may have other servers: no subdomains. */
const HSTS = 'max-age=15552000';

/** What the page never needs, as far as browsers know it: they warn about other names. It may copy to the clipboard. */
const PERMISSIONS = [
  ...['accelerometer', 'autoplay', 'camera', 'display-capture', 'encrypted-media', 'geolocation'],
  ...['gyroscope', 'hid', 'idle-detection', 'local-fonts', 'magnetometer', 'microphone', 'midi', 'payment'],
  ...['picture-in-picture', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
].map((feature) => `${feature}=()`);

/** For an answer without anything to run or load. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': PERMISSIONS.join(', '),
} as const;

/** The page loads everything from the host; text of an agent or a provider can neither run nor load anything. */
export const PAGE_HEADERS = {
  ...SECURITY_HEADERS,
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "frame-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
} as const;

/**
 * Diagrams are drawn in a frame that has no origin, whoever opens it, and that loads nothing but its own script. That script
 * is asked for by nobody's origin, so everybody's may have it. Only the host's own page may hold the frame.
 */
export const FRAME_HEADERS = {
  ...SECURITY_HEADERS,
  'Content-Security-Policy': [
    'sandbox allow-scripts',
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'unsafe-inline'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'self'",
  ].join('; '),
  'Access-Control-Allow-Origin': '*',
} as const;

/**
 * Browsers that came over TLS, to a name, come over TLS from then on. Not for addresses, where it means nothing, nor for
 * `localhost`, where it would shut out every other server of the machine. The Host must have been accepted already.
 */
export function hstsFor({ scheme, host }: RequestSource): { readonly 'Strict-Transport-Security'?: string } {
  const name = (host[0] ?? '').toLowerCase().replace(/:\d+$/, '');
  const isName = !name.startsWith('[') && isIP(name) === 0 && !isLoopback(name) && !name.endsWith('.localhost');
  return scheme === 'https' && isName ? { 'Strict-Transport-Security': HSTS } : {};
}
