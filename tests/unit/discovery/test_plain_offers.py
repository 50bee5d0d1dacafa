"""Offers in the plain present are read as such, and what reads alike and tells is left alone.

Written before the rules, which miss "I'm a gardener, and I take on neglected plots."
"""

from __future__ import annotations

import pytest

from cairn.discovery.intents.statements import Act, Side, statement

OFFERS = """
I take on repairs of old clocks.
I am an accountant who helps charities with their books.
We host workshops for first-time beekeepers.
We take in injured hedgehogs and nurse them back.
I run bread courses for beginners.
I'm a retired notary who advises young families.
We are a print shop that binds small editions.
I give piano lessons to children.
I lead guided walks through the marsh.
I take commissions for stained glass.
I'm a plumber and take on small jobs.
We help refugees with their forms.
I write letters for people who cannot.
I am a carpenter specialising in staircases.
I work with small museums on their lighting.
We accept apprentices in the forge.
I do tax returns for freelancers.
I represent tenants before the housing board.
We support start-ups with their first hires.
I coach young chess players.
My workshop takes on restorations of violins.
We are volunteers who drive elderly people to the doctor.
I am a translator working for publishers and theatres.
I help people move house.
Our kitchen caters for weddings.
I'm an electrician who takes evening jobs.
We run a repair cafe for bicycles.
I hold evening classes in Norwegian.
I'm a beekeeper who sells swarms.
I host reading groups for newcomers.
We organise hikes for people who live alone.
I advise farmers on drainage.
Our studio takes commissions.
I do the bookkeeping for small firms.
We take bookings for the hall.
I am a lawyer who represents seafarers.
I mentor founders.
We are a bakery specialising in rye.
I prepare students for the bar exam.
I run a choir for people who cannot sing.
We shelter cats.
My office supports widows with their pensions.
I assist surgeons as an interpreter.
I work with dyslexic children.
""".strip().splitlines()
TELLS = """
I take the tram to work.
I am an accountant who likes sailing.
We host my mother every Christmas.
I took on repairs for ten years.
I ran bread courses until the bakery closed.
My brother gives piano lessons.
I hope my neighbour finds a good plumber.
I take in the view from the tower.
We are a family that loves the sea.
I am a nurse who was born in Lisbon.
I lead a quiet life.
I run three miles before breakfast.
I give up.
I help my father in the garden.
I write in a diary.
I work with my cousin.
We accept that it will rain.
I do the dishes.
I hold a degree in chemistry.
We run out of milk all the time.
We supported the team for years.
She helps charities with their accounts.
I was a notary who advised young families.
I wish you the best with the new shop.
I'm a plumber's son.
We drive to the coast on Sundays.
I take photographs of my dog.
They run a repair cafe for bicycles.
I help out at home.
I take on too much.
I am an accountant and I hate it.
We are people who worry.
I run late.
We organised hikes last year.
I was a lawyer who represented seafarers.
Our neighbour runs a choir.
I take the children to school.
I accept your apology.
I visit my aunt on Sundays.
I am a mother of two children.
I work for a bank.
We serve dinner at eight.
I hope she finds a tutor.
I'm someone who reads a lot.
We take a walk after lunch.
I give my work all I have.
I hold my breath.
I do not take on students.
I no longer take on students.
Everybody here helps people.
I drive an old car.
I lead a small team at a bank.
""".strip().splitlines()


@pytest.mark.parametrize("text", OFFERS)
def test_an_offer_in_the_plain_present_is_one(text: str) -> None:
    offer = statement(text)
    assert (offer.act, offer.side) == (Act.COMMISSIVE, Side.OFFERING)


@pytest.mark.parametrize("text", TELLS)
def test_habits_facts_the_past_and_what_others_do_are_none(text: str) -> None:
    assert not statement(text).is_intent
