// Express 4 under a second name. The parts used in tests have the types of Express 5.
declare module 'express4' {
  export { default } from 'express';
}
