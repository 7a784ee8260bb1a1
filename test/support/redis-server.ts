import { programPath } from './program-path.js';

/** The path of the server program, or `REDIS_SERVER_PATH`; undefined if not found. */
export const REDIS_SERVER: string | undefined = programPath('REDIS_SERVER_PATH', ['redis-server']);
