import { passportSession } from 'agent-bff';
import session from 'express-session';
import passport from 'passport';
import OAuth2Strategy from 'passport-oauth2';
import { CLIENT_ID, CLIENT_SECRET, ISSUER, SCOPE, SECRET, serve, SITE } from './site.mjs';

passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));
const settings = {
  authorizationURL: `${ISSUER}/authorize`,
  tokenURL: `${ISSUER}/token`,
  clientID: CLIENT_ID,
  clientSecret: CLIENT_SECRET,
  callbackURL: `${SITE}/callback`,
  scope: SCOPE,
};
passport.use(
  new OAuth2Strategy(settings, (accessToken, _refresh, _profile, done) => done(null, { id: 'ann', accessToken })),
);
await serve(passportSession(), (app) => {
  app.use(
    session({ secret: SECRET, resave: false, saveUninitialized: false }),
    passport.initialize(),
    passport.session(),
  );
  app.get('/login', passport.authenticate('oauth2'));
  app.get('/callback', passport.authenticate('oauth2'), (_request, response) => response.redirect('/'));
});
