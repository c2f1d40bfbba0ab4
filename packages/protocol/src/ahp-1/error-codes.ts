/** The error codes of 1.0. */
import { ErrorCode as OlderErrorCode } from '../errors/codes.js';

const { ContentNotFound: _gone, ...codes } = OlderErrorCode;

/** The codes of 0.2.0 without `ContentNotFound`, for which 1.0 has `NotFound`. */
export const ErrorCode = codes;
export type ErrorCode = (typeof ErrorCode)[keyof typeof ErrorCode];
