import type { Server } from 'node:net';

export declare function listening(server: Server, backlog?: number): Promise<string>;
