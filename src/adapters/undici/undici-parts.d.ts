// The two parts of undici this folder is built on. The whole package takes three times as long to load, and replaces
// the dispatcher of the process's own `fetch`.
declare module 'undici/lib/dispatcher/client.js' {
  import { Client } from 'undici';
  export default Client;
}

declare module 'undici/lib/core/connect.js' {
  import { buildConnector } from 'undici';
  export default buildConnector;
}
