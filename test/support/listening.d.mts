import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Server } from 'node:net';

export declare function listening(server: Server, backlog?: number): Promise<string>;
export declare function closeAll(server: HttpServer | HttpsServer): Promise<void>;
