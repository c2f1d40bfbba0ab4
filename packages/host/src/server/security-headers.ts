/** Headers of every answer, which limit what a browser may do with it. */
import { isIP } from 'node:net';
import { isLoopback } from '@atrium/core/util/addresses.js';
import type { RequestSource } from './forwarded.js';

/** Half a year: long enough to protect, short enough to undo. No subdomains: other servers may use them. */
const HSTS = 'max-age=15552000';

/**
 * Features that the page never needs. The list has only names that browsers know, since they warn about others; the
 * clipboard is missing because the page copies to it.
 */
const PERMISSIONS = [
  ...['accelerometer', 'autoplay', 'camera', 'display-capture', 'encrypted-media', 'geolocation'],
  ...['gyroscope', 'hid', 'idle-detection', 'local-fonts', 'magnetometer', 'microphone', 'midi', 'payment'],
  ...['picture-in-picture', 'publickey-credentials-get', 'screen-wake-lock', 'serial', 'usb', 'xr-spatial-tracking'],
].map((feature) => `${feature}=()`);

/** For an answer with nothing to run or load. */
export const SECURITY_HEADERS = {
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': PERMISSIONS.join(', '),
} as const;

/** The page loads everything from the host. Text of an agent or a provider can neither run nor load anything. */
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
 * Diagrams are drawn in a frame without an origin, no matter who opens it, which loads only its own script. The request
 * for that script has no origin, so every origin may have it. Only the host's own page may embed the frame.
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
 * Browsers that reached a name over TLS use TLS from then on. Addresses get no such header, where it means nothing, nor
 * does `localhost`, where it would shut out every other server of the machine. The caller has accepted the Host header
 * already.
 */
export function hstsFor({ scheme, host }: RequestSource): { readonly 'Strict-Transport-Security'?: string } {
  const name = (host[0] ?? '').toLowerCase().replace(/:\d+$/, '');
  const isName = !name.startsWith('[') && isIP(name) === 0 && !isLoopback(name) && !name.endsWith('.localhost');
  return scheme === 'https' && isName ? { 'Strict-Transport-Security': HSTS } : {};
}
